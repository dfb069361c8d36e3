import t from 'tap'
import type { FieldError } from '#keelson/api/field-error.js'
import type { KubeObject } from '#keelson/api/object.js'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '#keelson/main/flow-control/bootstrap-objects.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { requestContext } from '../../support/request-context.js'

const context = requestContext({ namespace: '' })
const group = 'flowcontrol.apiserver.k8s.io'
const schemas = rulesOf({ group, resource: 'flowschemas' })
const levels = rulesOf({ group, resource: 'prioritylevelconfigurations' })
const said = (errors: readonly FieldError[] = []): string[] => errors.map(({ field, type }) => `${field}|${type}`)

t.test('what every server has stays as it is', (t) => {
  for (const schema of mandatoryFlowSchemas()) {
    const object = structuredClone(schema) as unknown as KubeObject
    t.same(said(schemas.validate?.(object, context)), [], schema.metadata.name)
    const spec = { ...(object['spec'] as object), distinguisherMethod: { type: 'ByNamespace' } }
    t.same(said(schemas.validate?.({ ...object, spec }, context)), ['spec|FieldValueInvalid'])
  }
  for (const level of mandatoryPriorityLevels())
    t.same(said(levels.validate?.(level as unknown as KubeObject, context)), [], level.metadata.name)
  const level = (name: string, spec: object): string[] => said(levels.validate?.({ metadata: { name }, spec }, context))
  t.same(level('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 7, lendablePercent: 3 } }), [])
  const limited = { nominalConcurrencyShares: 6, lendablePercent: 0, limitResponse: { type: 'Reject' } }
  t.same(level('other', { type: 'Limited', limited }), [])
  t.same(level('catch-all', { type: 'Limited', limited }), ['spec|FieldValueInvalid'])
  t.end()
})

t.test('subjects are of one kind', (t) => {
  const at = 'spec.rules[0].subjects[0]'
  const cases: [object, string[]][] = [
    [{ kind: 'User', user: { name: 'u' } }, []],
    [{ kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'n' } }, []],
    [
      { kind: 'Group', user: { name: 'u' }, serviceAccount: {} },
      [`${at}.group|FieldValueRequired`, `${at}.serviceAccount|FieldValueForbidden`, `${at}.user|FieldValueForbidden`],
    ],
    [{ kind: 'user' }, [`${at}.kind|FieldValueNotSupported`]],
  ]
  for (const [subject, expected] of cases) {
    const rules = [{ subjects: [subject], nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x/*'] }] }]
    const object = { metadata: { name: 'x' }, spec: { priorityLevelConfiguration: { name: 'l' }, rules } } as KubeObject
    schemas.setDefaults?.(object)
    t.same(said(schemas.validate?.(object, context)), expected, JSON.stringify(subject))
  }
  t.end()
})

t.test('each condition of a status is there once and has a type', (t) => {
  for (const rules of [schemas, levels]) {
    const conditions = [{ type: 'A' }, { type: 'A' }, {}]
    t.same(said(rules.status?.validateUpdate?.({ status: { conditions } }, {}, context)), [
      'status.conditions[1].type|FieldValueDuplicate',
      'status.conditions[2].type|FieldValueRequired',
    ])
  }
  t.end()
})

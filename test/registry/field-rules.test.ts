import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import type { ResourceClaim, ResourceClaimTemplate } from '#keelson/api/generated/kinds/resource.v1.js'
import { decodeJson } from '#keelson/api/json/decode.js'
import type { KubeObject } from '#keelson/api/object.js'
import { RulesStrategy } from '#keelson/registry/generic/rules-strategy.js'
import {
  adminAccessHooks,
  type ClaimKind,
} from '#keelson/registry/resource.k8s.io/resourceclaims/admin-access-hooks.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { partialObjectMetadata } from '#keelson/workers/endpoints/table.js'
import { requestContext } from '../support/request-context.js'

const schemas = new BuiltinSchemas()
const context = requestContext({ namespace: 'a' })

function causes(resource: string, group: string, object: KubeObject): string[] {
  const rules = rulesOf({ group, resource })
  rules.setDefaults?.(object)
  return (rules.validate?.(object, context) ?? []).map(({ field, type }) => `${field}|${type}`).sort()
}

t.test('a capacity that is shared says how it may be asked for', (t) => {
  const slice = (requestPolicy: object, shared = true): KubeObject => ({
    spec: {
      driver: 'gpu.example.com',
      pool: { name: 'p', resourceSliceCount: 1 },
      nodeName: 'n',
      devices: [{ name: 'd', allowMultipleAllocations: shared, capacity: { m: { value: '8', requestPolicy } } }],
    },
  })
  const at = 'spec.devices[0].capacity[m].requestPolicy'
  const cases: [object, string[], boolean?][] = [
    [{ default: '2', validValues: ['1', '2', '8'] }, []],
    [{ default: '2', validRange: { min: '1', max: '8', step: '1' } }, []],
    [{ default: '9' }, []],
    [{ default: '2' }, [`${at}|FieldValueForbidden`], false],
    [{ validValues: ['1'] }, [`${at}.default|FieldValueRequired`]],
    [{ validRange: { min: '1' } }, [`${at}.default|FieldValueRequired`]],
    [{ default: '1', validValues: ['1'], validRange: { min: '1' } }, [`${at}|FieldValueForbidden`]],
    [{ default: '3', validValues: ['1', '2'] }, [`${at}.validValues|FieldValueInvalid`]],
    [{ default: '1', validValues: ['2', '1'] }, [`${at}.validValues[1]|FieldValueInvalid`]],
    [{ default: '1', validValues: ['1', '1'] }, [`${at}.validValues[1]|FieldValueDuplicate`]],
    [{ default: '1', validValues: ['1', '9'] }, [`${at}.validValues[1]|FieldValueInvalid`]],
    [{ default: '1', validRange: {} }, [`${at}.validRange.min|FieldValueRequired`]],
    [{ default: '1', validRange: { min: '2' } }, [`${at}.validRange.min|FieldValueInvalid`]],
    [{ default: '4', validRange: { min: '1', max: '3' } }, [`${at}.validRange.max|FieldValueInvalid`]],
    [{ default: '2', validRange: { min: '1', step: '0' } }, [`${at}.validRange.step|FieldValueInvalid`]],
    [{ default: '2', validRange: { min: '1', step: '2' } }, [`${at}.validRange.step|FieldValueInvalid`]],
    [{ default: '3', validRange: { min: '1', max: '4', step: '2' } }, [`${at}.validRange.step|FieldValueInvalid`]],
  ]
  for (const [policy, expected, shared] of cases)
    t.same(causes('resourceslices', 'resource.k8s.io', slice(policy, shared)), expected, JSON.stringify(policy))
  t.end()
})

t.test('finalizers of a new namespace are named as a list, later by their place', (t) => {
  const namespace = { spec: { finalizers: ['kubernetes', 'Odd!'] } } as KubeObject
  const twice = ['spec.finalizers|FieldValueInvalid', 'spec.finalizers|FieldValueInvalid']
  t.same(causes('namespaces', '', namespace), twice)
  const finalize = rulesOf({ group: '', resource: 'namespaces' }).subresources?.['finalize']
  const errors = finalize?.validateUpdate?.(namespace, namespace, context) ?? []
  t.same([...new Set(errors.map(({ field }) => field))], ['spec.finalizers[1]'])
  t.end()
})

t.test('the template generation of a daemon set is always there, but not in its metadata alone', (t) => {
  const rules = rulesOf({ group: 'apps', resource: 'daemonsets' })
  const set: KubeObject = { metadata: { annotations: { a: 'b' } } }
  rules.setDefaults?.(set)
  t.same(set.metadata?.annotations, { a: 'b', 'deprecated.daemonset.template.generation': '0' })
  t.same(partialObjectMetadata(set, 'v1', rules).metadata, { annotations: { a: 'b' } })
  t.end()
})

t.test('who deletes a job without saying what becomes of its pods is warned', (t) => {
  const { warningsOnDelete } = rulesOf({ group: 'batch', resource: 'jobs' })
  t.equal(warningsOnDelete?.({}).length, 1)
  t.equal(warningsOnDelete?.({ propagationPolicy: 'Background' }).length, 0)
  t.equal(warningsOnDelete?.({ orphanDependents: false }).length, 0)
  t.end()
})

t.test('an API service is named after what it serves, by this server or by another', (t) => {
  const of = (spec: object, name = 'v1.g.example.com'): string[] =>
    causes('apiservices', 'apiregistration.k8s.io', { metadata: { name }, spec })
  const local = { group: 'g.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 15 }
  const service = { name: 'a', namespace: 'b' }
  const cases: [object, string[]][] = [
    [local, []],
    [{ ...local, service }, []],
    [{ ...local, group: 'h.example.com' }, ['metadata.name|FieldValueInvalid']],
    [{ ...local, group: '', version: 'v2' }, ['metadata.name|FieldValueInvalid', 'spec.group|FieldValueRequired']],
    [{ ...local, version: 'V1' }, ['metadata.name|FieldValueInvalid', 'spec.version|FieldValueInvalid']],
    [{ ...local, groupPriorityMinimum: 20001 }, ['spec.groupPriorityMinimum|FieldValueInvalid']],
    [{ ...local, versionPriority: 0 }, ['spec.versionPriority|FieldValueInvalid']],
    [{ ...local, caBundle: 'YWFh' }, ['spec.caBundle|FieldValueInvalid']],
    [{ ...local, insecureSkipTLSVerify: true }, ['spec.insecureSkipTLSVerify|FieldValueInvalid']],
    [{ ...local, service: {} }, ['spec.service.namespace|FieldValueRequired', 'spec.service.name|FieldValueRequired']],
    [{ ...local, service: { ...service, port: 0 } }, ['spec.service.port|FieldValueInvalid']],
    [
      { ...local, service, caBundle: 'YWFh', insecureSkipTLSVerify: true },
      ['spec.insecureSkipTLSVerify|FieldValueInvalid'],
    ],
  ]
  for (const [spec, expected] of cases) t.same(of(structuredClone(spec)), expected, JSON.stringify(spec))
  const rules = rulesOf({ group: 'apiregistration.k8s.io', resource: 'apiservices' })
  const made: KubeObject = { spec: local }
  rules.prepareForCreate?.(made, context)
  t.match(made['status'], { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] })
  t.end()
})

t.test('a pod template by itself is checked as one of a workload', (t) => {
  const container = { name: 'c', image: 'i' }
  const of = (spec: object): string[] => causes('podtemplates', '', { template: { spec } } as KubeObject)
  t.same(of({ containers: [container] }), [])
  t.same(of({ containers: [] }), ['template.spec.containers|FieldValueRequired'])
  t.same(of({ containers: [container, container] }), ['template.spec.containers[1].name|FieldValueDuplicate'])
  t.end()
})

t.test('where nothing may be privileged, every kind that has pods says so', (t) => {
  const shape = { kind: { group: '', kind: 'X' }, namespaceScoped: true, hasStatus: true }
  const containers = [{ name: 'c', image: 'i', securityContext: { privileged: true } }]
  const metadata = { name: 'x', namespace: 'a' }
  const cases: [string, string, KubeObject, string][] = [
    ['', 'pods', { spec: { containers } }, 'spec'],
    ['', 'podtemplates', { template: { spec: { containers } } }, 'template.spec'],
    ['apps', 'deployments', { spec: { template: { spec: { containers } } } }, 'spec.template.spec'],
    [
      'batch',
      'cronjobs',
      { spec: { jobTemplate: { spec: { template: { spec: { containers } } } } } },
      'spec.jobTemplate.spec.template.spec',
    ],
  ]
  for (const [group, resource, given, at] of cases) {
    const rules = rulesOf({ group, resource })
    const object = { ...structuredClone(given), metadata }
    rules.setDefaults?.(object)
    const said = (allowPrivileged: boolean): string[] =>
      new RulesStrategy({ ...shape, allowPrivileged }, rules)
        .validate(object, context)
        .map(({ field, type }) => `${field}|${type}`)
    const cause = `${at}.containers[0].securityContext.privileged|FieldValueForbidden`
    t.ok(said(false).includes(cause), resource)
    t.notOk(said(true).includes(cause), resource)
  }
  t.end()
})

t.test('expressions of policies speak of what there is', (t) => {
  const policy = (spec: object): string[] =>
    causes('validatingadmissionpolicies', 'admissionregistration.k8s.io', {
      metadata: { name: 'p' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['*'] }],
        },
        validations: [{ expression: 'true' }],
        ...spec,
      },
    } as KubeObject)
  const at = 'spec.validations[0]'
  const cases: [object, string[]][] = [
    [{}, []],
    [{ validations: [{ expression: 'object.spec. +' }] }, [`${at}.expression|FieldValueInvalid`]],
    [{ validations: [{ expression: "'text'" }] }, [`${at}.expression|FieldValueInvalid`]],
    [{ validations: [{ expression: 'true', messageExpression: '1' }] }, [`${at}.messageExpression|FieldValueInvalid`]],
    [{ validations: [{ expression: 'true', messageExpression: ' ' }] }, [`${at}.messageExpression|FieldValueInvalid`]],
    [{ validations: [{ expression: 'params != null' }] }, [`${at}.expression|FieldValueInvalid`]],
    [{ validations: [{ expression: 'params != null' }], paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }, []],
    [
      {
        variables: [
          { name: 'n', expression: '1' },
          { name: 'm', expression: 'variables.n + 1' },
        ],
        validations: [{ expression: 'variables.m > 1' }],
      },
      [],
    ],
    [
      {
        variables: [
          { name: 'm', expression: 'variables.n' },
          { name: 'n', expression: '1' },
        ],
      },
      ['spec.variables[0].expression|FieldValueInvalid'],
    ],
    [
      { variables: [{ name: 'n', expression: '' }], validations: [{ expression: 'variables.n > 1' }] },
      [`${at}.expression|FieldValueInvalid`, 'spec.variables[0].expression|FieldValueRequired'],
    ],
    [
      { matchConditions: [{ name: 'c', expression: 'variables.x' }] },
      ['spec.matchConditions[0].expression|FieldValueInvalid'],
    ],
    [
      { auditAnnotations: [{ key: 'k', valueExpression: '1' }] },
      ['spec.auditAnnotations[0].valueExpression|FieldValueInvalid'],
    ],
    [{ auditAnnotations: [{ key: 'k', valueExpression: 'null' }] }, []],
  ]
  for (const [spec, expected] of cases) t.same(policy(spec), expected, JSON.stringify(spec))
  t.end()
})

t.test('admin access to devices needs a label of the namespace', async (t) => {
  const spec = { devices: { requests: [{}, { exactly: { adminAccess: true } }] } }
  const claim: ClaimKind<ResourceClaim> = { kind: 'ResourceClaim', specOf: (object) => object.spec }
  const template: ClaimKind<ResourceClaimTemplate> = {
    kind: 'ResourceClaimTemplate',
    specOf: (object) => object.spec?.spec,
  }
  const cases: [ClaimKind<KubeObject>, KubeObject][] = [
    [claim, { spec }],
    [template, { spec: { spec } }],
  ]
  for (const [claims, object] of cases) {
    const begin = (labels?: Record<string, string>, given = object): Promise<unknown> =>
      adminAccessHooks(claims, async () => (labels === undefined ? undefined : { metadata: { labels } })).beginCreate!(
        given,
        context,
      )
    await t.resolves(begin({ 'resource.kubernetes.io/admin-access': 'true' }))
    for (const labels of [undefined, {}, { 'resource.kubernetes.io/admin-access': 'no' }])
      await t.rejects(begin(labels), { message: /spec\.devices\.requests\[1\]\.adminAccess: Forbidden/ })
    await t.resolves(begin({}, { spec: {} }))
  }
})

t.test('an autoscaler that names no policies is told so; one that says nothing gets the usual ones', (t) => {
  const json = (policies: string): KubeObject => {
    const schema = schemas.kind('autoscaling', 'v2', 'HorizontalPodAutoscaler')!
    return decodeJson(
      Buffer.from(
        `{"spec":{"maxReplicas":1,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"A","name":"a"},"behavior":{"scaleUp":{${policies}}}}}`,
      ),
      schema,
    ).object
  }
  const of = (policies: string): string[] =>
    causes('horizontalpodautoscalers', 'autoscaling', { ...json(policies), apiVersion: 'autoscaling/v2' })
  t.same(of('"selectPolicy":"Max"'), [])
  t.same(of('"policies":[]'), ['spec.behavior.scaleUp.policies|FieldValueRequired'])
  t.end()
})

t.test('the source of a claim in a template may have no group, which Go prints as null', (t) => {
  const claim = (dataSource: object): KubeObject => ({
    metadata: { name: 's' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      volumeClaimTemplates: [
        {
          metadata: { name: 'd' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, dataSource },
        },
      ],
    },
  })
  const at = 'spec.volumeClaimTemplates[0].spec.dataSource'
  t.same(causes('statefulsets', 'apps', claim({ apiGroup: null, kind: 'PersistentVolumeClaim', name: 'x' })), [])
  t.same(causes('statefulsets', 'apps', claim({ apiGroup: null, kind: 'Other', name: 'x' })), [
    `${at}|FieldValueInvalid`,
  ])
  t.end()
})

t.test('features of a node are sorted names, with parts below them', (t) => {
  const of = (...declaredFeatures: string[]): string[] =>
    causes('nodes', '', { metadata: { name: 'n' }, status: { declaredFeatures } } as KubeObject)
  t.same(of('A', 'B/c', 'B/d'), [])
  for (const odd of ['a', 'A/', 'A/1', 'A'.repeat(254)])
    t.same(of(odd), ['status.declaredFeatures[0]|FieldValueInvalid'], odd)
  t.same(of('B', 'A', 'A'), [
    'status.declaredFeatures[1]|FieldValueInvalid',
    'status.declaredFeatures[2]|FieldValueDuplicate',
  ])
  t.end()
})

t.test('what a slice offers has names, limits and one way to choose nodes', (t) => {
  const of = (spec: object): string[] =>
    causes('resourceslices', 'resource.k8s.io', {
      spec: { driver: 'd.example.com', pool: { name: 'p', resourceSliceCount: 1 }, nodeName: 'n', ...spec },
    } as KubeObject)
  const device = (more: object): object => ({ devices: [{ name: 'd', ...more }] })
  const term = { matchExpressions: [{ key: 'k', operator: 'Exists' }] }
  const chosen = (nodeSelectorTerms: object[]): object => ({ nodeName: undefined, nodeSelector: { nodeSelectorTerms } })
  const cases: [object, string[]][] = [
    [device({ attributes: { 'a.example.com/b': { int: 1 }, c: { version: '1.0.0-a.1' } } }), []],
    [device({ attributes: { 'a-b': { int: 1 } } }), ['spec.devices[0].attributes|FieldValueInvalid']],
    [
      device({ attributes: { c: { version: '1.0.0-01' } } }),
      ['spec.devices[0].attributes[c].version|FieldValueInvalid'],
    ],
    [{ devices: [{ name: 'd' }, { name: 'd' }] }, ['spec.devices[1]|FieldValueDuplicate']],
    [device({ nodeName: 'n' }), ['spec.devices[0]|FieldValueInvalid']],
    [device({ taints: Array.from({ length: 17 }, () => ({})) }), ['spec.devices[0].taints|FieldValueTooMany']],
    [{ sharedCounters: [{ name: 's', counters: { m: { value: '1' } } }] }, []],
    [
      { sharedCounters: [{ counters: {} }] },
      ['spec.sharedCounters[0].counters|FieldValueRequired', 'spec.sharedCounters[0].name|FieldValueRequired'],
    ],
    [{ sharedCounters: [], devices: [] }, ['spec|FieldValueInvalid']],
    [{ allNodes: false }, ['spec.allNodes|FieldValueInvalid']],
    [{ allNodes: true }, ['spec|FieldValueInvalid']],
    [{ nodeName: '' }, ['spec.nodeName|FieldValueInvalid', 'spec|FieldValueRequired']],
    [chosen([term]), []],
    [chosen([term, term]), ['spec.nodeSelector.nodeSelectorTerms|FieldValueInvalid']],
  ]
  for (const [spec, expected] of cases) t.same(of(structuredClone(spec)), expected, JSON.stringify(spec).slice(0, 100))
  t.end()
})

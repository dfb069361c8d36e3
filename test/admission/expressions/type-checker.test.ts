import t from 'tap'
import { namedResources, typeWarnings } from '#keelson/admission/expressions/type-checker.js'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { StructTypes } from '#keelson/api/cel/struct-types.js'

const schemas = new BuiltinSchemas()
const types = new StructTypes()
const typed = (group: string, version: string, kind: string) => ({
  kind: { group, version, kind },
  type: types.of(schemas.kind(group, version, kind)!),
})
const deployment = typed('apps', 'v1', 'Deployment')
const configMap = typed('', 'v1', 'ConfigMap')

const policy = (expressions: string[], more: object = {}) => ({
  spec: { validations: expressions.map((expression) => ({ expression })), ...more },
})

t.test('a field that the kind does not have is a warning at its expression', async (t) => {
  const found = typeWarnings(policy(['object.spec.replicas > 1', 'object.replicas > 1']), [deployment], undefined)
  t.match(found, [
    {
      fieldRef: 'spec.validations[1].expression',
      warning: /^apps\/v1, Kind=Deployment: .*undefined field 'replicas'/s,
    },
  ])
})

t.test('each kind is told of for itself, in one warning', async (t) => {
  const [only, ...others] = typeWarnings(policy(['object.bogus == 1']), [configMap, deployment], undefined)
  t.same(others, [])
  t.match(only!.warning, /^v1, Kind=ConfigMap: .*\n\napps\/v1, Kind=Deployment: /s)
})

t.test('dates, labels, quantities and ports have the types that documents give them', async (t) => {
  const right = [
    "object.metadata.creationTimestamp < timestamp('2030-01-01T00:00:00Z')",
    "object.metadata.labels.all(key, key.startsWith('a'))",
    "object.spec.template.spec.containers.all(c, c.resources.limits['cpu'] == '1')",
    'object.spec.template.spec.containers.all(c, c.ports.all(p, p.containerPort < 1024))',
    'object.metadata.__namespace__ == oldObject.metadata.__namespace__',
  ]
  t.same(typeWarnings(policy(right), [deployment], undefined), [])
  t.match(typeWarnings(policy(['object.metadata.labels > 1']), [deployment], undefined), [{ warning: /overload/ }])
})

t.test('variables and params are typed too', async (t) => {
  const variables = [{ name: 'replicas', expression: 'object.spec.replicas' }]
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  const more = { variables, paramKind }
  t.same(
    typeWarnings(policy(["variables.replicas < 3 && params.data.a == 'b'"], more), [deployment], configMap.type),
    [],
  )
  const wrong = policy(["variables.replicas == 'three'", 'params.spec == 1'], more)
  t.equal(typeWarnings(wrong, [deployment], configMap.type).length, 2)
})

t.test('only resources that rules name one by one are looked at, ten of a rule', async (t) => {
  const rules = (rule: object) => ({
    spec: { matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], ...rule }] } },
  })
  t.same(namedResources(rules({ resources: ['pods', 'pods/status', '*', 'configmaps'] })), [
    { group: '', version: 'v1', resource: 'configmaps' },
    { group: '', version: 'v1', resource: 'pods' },
  ])
  t.same(namedResources(rules({ apiGroups: ['*'], resources: ['pods'] })), [])
  const many = Array.from({ length: 50 }, (_, i) => `r${i}`)
  t.equal(namedResources(rules({ resources: many })).length, 10)
})

import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import type { RequestContext } from '#keelson/registry/generic/strategy.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { partialObjectMetadata } from '#keelson/workers/table.js'

const context = { namespace: 'a', now: () => 0 } as unknown as RequestContext

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
    [{ default: '1', validRange: { min: '2' } }, [`${at}.validRange.default|FieldValueInvalid`]],
    [{ default: '4', validRange: { min: '1', max: '3' } }, [`${at}.validRange.default|FieldValueInvalid`]],
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

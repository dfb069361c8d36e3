import t from 'tap'
import { type FieldError, FieldPath } from '#keelson/api/field-error.js'
import type { KubeObject } from '#keelson/api/object.js'
import { ipWarnings } from '#keelson/api/validation/addresses.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { requestContext } from '../support/request-context.js'

const context = requestContext({ namespace: 'a' })
const volumes = rulesOf({ group: '', resource: 'persistentvolumes' })
const claims = rulesOf({ group: '', resource: 'persistentvolumeclaims' })
const said = (errors: readonly FieldError[] = []): string[] => errors.map(({ field, type }) => `${field}|${type}`)

const volume = (spec: object, annotations?: Record<string, string>): KubeObject => {
  const common = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] }
  const metadata = { name: 'v', ...(annotations === undefined ? {} : { annotations }) }
  const object: KubeObject = structuredClone({ metadata, spec: { ...common, ...spec } })
  volumes.setDefaults?.(object)
  return object
}

t.test('where the data of a volume is', (t) => {
  const options = { 'volume.beta.kubernetes.io/mount-options': 'ro' }
  const cases: [object, string[], Record<string, string>?][] = [
    [{ quobyte: { registry: 'a:1,[::1]:2', volume: 'v' } }, []],
    [{ quobyte: { registry: 'a:1,b', volume: 'v' } }, ['spec.quobyte.registry|FieldValueInvalid']],
    [
      { quobyte: { registry: 'a:1', tenant: 't'.repeat(65) } },
      ['spec.quobyte.tenant|FieldValueRequired', 'spec.quobyte.volume|FieldValueRequired'],
    ],
    [{ hostPath: { path: '', type: 'Odd' } }, ['spec.hostPath.path|FieldValueRequired']],
    [
      { azureDisk: { diskName: 'd', diskURI: 'https://d', cachingMode: '' } },
      ['spec.azureDisk.cachingMode|FieldValueNotSupported'],
    ],
    [{ local: { path: '/d' } }, ['spec.nodeAffinity|FieldValueRequired']],
    [{ local: { path: '/d' }, nodeAffinity: {} }, ['spec.nodeAffinity.required|FieldValueRequired']],
    [
      { nfs: { server: 's', path: '/' }, capacity: { storage: '-1' } },
      ['spec.capacity[storage]|FieldValueInvalid', 'spec.capacity[storage]|FieldValueInvalid'],
    ],
    [{ nfs: { server: 's', path: '/' } }, [], options],
    [
      { hostPath: { path: '/d' } },
      ['metadata.annotations.volume.beta.kubernetes.io/mount-options|FieldValueForbidden'],
      options,
    ],
  ]
  for (const [spec, expected, annotations] of cases)
    t.same(said(volumes.validate?.(volume(spec, annotations), context)), expected, JSON.stringify(spec))
  t.match(volumes.warningsOnCreate?.(volume({ rbd: { monitors: ['m'], image: 'i' } }), context), [/^spec\.rbd: /])
  t.end()
})

t.test('the nodes of a volume stay, but their labels may get their newer names', (t) => {
  const near = (key: string): KubeObject =>
    volume({
      hostPath: { path: '/d' },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['z'] }] }] },
      },
    })
  const [older, newer] = [near('failure-domain.beta.kubernetes.io/zone'), near('topology.kubernetes.io/zone')]
  t.same(said(volumes.validateUpdate?.(newer, older, context)), [])
  t.same(said(volumes.validateUpdate?.(older, newer, context)), ['nodeAffinity|FieldValueInvalid'])
  t.end()
})

const claim = (spec: object, status: object = {}, annotations: Record<string, string> = {}): KubeObject => {
  const common = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  const metadata = { name: 'c', namespace: 'a', uid: 'u', resourceVersion: '1', annotations }
  const object: KubeObject = structuredClone({ metadata, spec: { ...common, ...spec }, status })
  claims.setDefaults?.(object)
  return object
}

t.test('a claim is filled from its own namespace', (t) => {
  const away = claim({ dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'x', namespace: 'other' } })
  claims.prepareForCreate?.(away, context)
  t.same(away['spec'], claim({})['spec'])
  const from = (apiGroup: string): KubeObject => claim({ dataSourceRef: { apiGroup, kind: 'K', name: 'x' } })
  t.same(said(claims.validate?.(from('Odd!'), context)), ['spec.dataSourceRef.apiGroup|FieldValueInvalid'])
  t.same(said(claims.validateUpdate?.(from('Odd!'), from('a.b'), context)), ['spec|FieldValueForbidden'])
  t.end()
})

t.test('the class of a claim may move from its annotation to its field; that of its attributes goes once', (t) => {
  const annotation = { 'volume.beta.kubernetes.io/storage-class': 'gold' }
  const old = claim({}, {}, annotation)
  t.same(said(claims.validateUpdate?.(claim({ storageClassName: 'gold' }), old, context)), [])
  const at = 'metadata.annotations[volume.beta.kubernetes.io/storage-class]|FieldValueInvalid'
  t.same(said(claims.validateUpdate?.(claim({}), old, context)), [at])
  const applied = { phase: 'Bound', currentVolumeAttributesClassName: 'a' }
  const silver = claim({ volumeAttributesClassName: 'silver' }, applied)
  t.same(said(claims.validateUpdate?.(claim({}, applied), silver, context)), [
    'spec.volumeAttributesClassName|FieldValueForbidden',
  ])
  t.same(said(claims.validateUpdate?.(claim({}, applied), claim({}, applied), context)), [])
  t.end()
})

t.test('the status of a claim speaks of storage', (t) => {
  const cases: [object, string[]][] = [
    [{ capacity: { storage: '1Gi' }, allocatedResources: { storage: '2Gi', 'example.com/x': '1' } }, []],
    [{ capacity: { storage: '-1' } }, ['status.capacity[storage]|FieldValueInvalid']],
    [{ allocatedResources: { cpu: '1' } }, ['status.allocatedResources|FieldValueNotSupported']],
    [{ allocatedResourceStatuses: { storage: 'NodeResizePending' } }, []],
    [{ allocatedResourceStatuses: { storage: 'Soon' } }, ['status.allocatedResourceStatuses|FieldValueNotSupported']],
  ]
  for (const [status, expected] of cases)
    t.same(said(claims.status?.validateUpdate?.(claim({}, status), claim({}), context)), expected)
  const part = claim({ resources: { requests: { storage: '1500m' } } })
  t.match(claims.warningsOnCreate?.(part, context), [/^spec\.resources\.requests\[storage\]: fractional/])
  t.end()
})

t.test('addresses that two programs may read differently are warned of', (t) => {
  for (const [text, count] of Object.entries({ '1.2.3.4': 0, '1.2.3.04': 1, '::ffff:1.2.3.4': 1, '::0': 1, '::1': 0 }))
    t.equal(ipWarnings(text, FieldPath.of('x')).length, count, text)
  t.end()
})

import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import type { KubeObject } from '#keelson/api/object.js'
import type { StoredKind } from '#keelson/registry/stored-resource.js'
import { StorageCodec } from '#keelson/workers/scheme/storage-codec.js'

const codecOf = (mediaType: 'application/json' | 'application/vnd.kubernetes.protobuf', defaults?: string) =>
  new StorageCodec({
    stored: {
      name: 'configmaps',
      info: { group: '', version: 'v1', kind: 'ConfigMap' },
      rules: {
        ...(defaults === undefined
          ? {}
          : {
              setDefaults: (object: KubeObject) => {
                object['data'] ??= { default: defaults }
              },
            }),
      },
    } as unknown as StoredKind,
    schemas: new BuiltinSchemas(),
    mediaType,
    apiVersion: 'v1',
  })

const configMap = (rest: object = {}): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    name: 'm',
    namespace: 'ns',
    uid: 'u',
    creationTimestamp: '2026-01-02T03:04:05Z',
    labels: { b: '1', a: '2' },
    managedFields: [{ manager: 'm', operation: 'Update', time: '2026-01-02T03:04:05Z', fieldsV1: { 'f:data': {} } }],
  },
  data: { key: 'value, é' },
  ...rest,
})

t.test('an object that will be read as it is says so, and its bytes are those of encode', (t) => {
  const codec = codecOf('application/vnd.kubernetes.protobuf')
  const object = configMap()
  const { data, isAsRead } = codec.encodePrinted(object)
  t.ok(isAsRead)
  t.same(data, codec.encode(configMap()))
  t.same(codec.decode(data), object)
  t.end()
})

t.test('the defaults of reading are put into it', (t) => {
  const codec = codecOf('application/vnd.kubernetes.protobuf', 'x')
  const { data: _, ...object } = configMap()
  const encoded = codec.encodePrinted(object)
  t.ok(encoded.isAsRead)
  t.same(object['data'], { default: 'x' })
  t.same(codec.decode(encoded.data), object)
  t.end()
})

t.test('an object that will be read otherwise is read', (t) => {
  const codec = codecOf('application/vnd.kubernetes.protobuf')
  for (const other of [
    configMap({ data: {} }),
    configMap({ immutable: null }),
    configMap({ data: { key: '\ud800' } }),
    configMap({ unknown: 1 }),
    configMap({ metadata: { name: 'm', creationTimestamp: '2026-02-30T00:00:00Z' } }),
    configMap({ kind: '' }),
  ]) {
    t.notOk(codec.encodePrinted(other).isAsRead)
  }
  t.notOk(codecOf('application/json').encodePrinted(configMap()).isAsRead, 'JSON is always read')
  t.end()
})

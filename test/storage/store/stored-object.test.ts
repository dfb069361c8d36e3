import t from 'tap'
import { StorageError } from '#keelson/storage/contract/errors.js'
import type { KeyValue } from '#keelson/storage/contract/kv.js'
import { TransformError } from '#keelson/storage/contract/transform-error.js'
import { StoredObjects } from '#keelson/storage/store/stored-object.js'

const kv: KeyValue = {
  key: '/registry/secrets/default/a',
  value: Buffer.from('sealed'),
  modRevision: 7,
  createRevision: 7,
  version: 1,
  lease: 0n,
}

function objects(fail: () => never): StoredObjects<object> {
  return new StoredObjects<object>({
    codec: { encode: () => Buffer.from('{}'), decode: () => ({}) },
    transformer: { transformFromStorage: fail, transformToStorage: (data: Uint8Array) => data },
    versioner: {} as never,
    newObject: () => ({}),
  } as never)
}

t.test('a key service that does not answer makes the object unreachable, never corrupt', async (t) => {
  const away = objects(() => {
    throw new TransformError('kms', 'KMS Decrypt: gRPC status 14')
  })
  t.throws(() => away.open(kv), { code: 'unreachable', fields: { key: kv.key } })
})

t.test('bytes that fail their authentication are corrupt', async (t) => {
  const broken = objects(() => {
    throw new TransformError('authentication', 'not with this key')
  })
  t.throws(() => broken.open(kv), { code: 'corrupt-object' })
})

t.test('what the storage itself says is passed on', async (t) => {
  const failing = objects(() => {
    throw new StorageError('not-ready', 'soon')
  })
  t.throws(() => failing.open(kv), { code: 'not-ready' })
})

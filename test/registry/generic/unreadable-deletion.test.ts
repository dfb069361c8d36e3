import t from 'tap'
import type { DryRunnableStorage } from '#keelson/registry/generic/dry-run-storage.js'
import { StoreDeletion } from '#keelson/registry/generic/store-deletion.js'
import type { StoreOptions } from '#keelson/registry/generic/store-options.js'
import { StorageError, type StorageErrorCode } from '#keelson/storage/contract/errors.js'
import { keyServiceUnreachable, TransformError } from '#keelson/storage/contract/transform-error.js'

function deletionOver(get: () => Promise<unknown>): StoreDeletion {
  return new StoreDeletion({} as StoreOptions, { storage: { get } } as unknown as DryRunnableStorage)
}

t.test('only what is broken for good counts as unreadable', async (t) => {
  const failing = (error: Error) => deletionOver(() => Promise.reject(error)).isUnreadable('/pods/ns/a')
  const coded = (code: StorageErrorCode) => failing(new StorageError(code, 'x'))
  t.equal(await coded('corrupt-object'), true)
  t.equal(await coded('key-not-found'), false)
  t.equal(await coded('unreachable'), false)
  const outage = keyServiceUnreachable('/registry/pods/ns/a', new TransformError('kms', 'no answer'))
  t.equal(await failing(outage), false, 'a key service that is away never makes an object deletable')
  t.equal(await deletionOver(() => Promise.resolve({})).isUnreadable('/pods/ns/a'), false)
})

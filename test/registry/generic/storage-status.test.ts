import t from 'tap'
import { StatusError } from '#keelson/api/status.js'
import {
  givenVersion,
  interpretStorageError,
  STORAGE_STATUS,
  translated,
} from '#keelson/registry/generic/storage-status.js'
import { StorageError, type StorageErrorCode, type StorageErrorFields } from '#keelson/storage/contract/errors.js'
import { objectVersioner } from '#keelson/storage/contract/versioner.js'

const RESOURCE = { group: 'example.com', resource: 'things' }
const told = (code: StorageErrorCode, fields: StorageErrorFields = {}) =>
  (interpretStorageError(new StorageError(code, 'why', fields), RESOURCE, 'a') as StatusError).status

t.test('every code has its Status', async (t) => {
  const expected: Record<StorageErrorCode, [number, string?]> = {
    'key-not-found': [404, 'NotFound'],
    'key-exists': [409, 'AlreadyExists'],
    conflict: [409, 'Conflict'],
    'invalid-object': [409, 'Conflict'],
    'too-old': [410, 'Expired'],
    'too-large': [504, 'Timeout'],
    unreachable: [504, 'Timeout'],
    'corrupt-object': [500, 'InternalError'],
    'resource-version-set': [500],
    'invalid-request': [400, 'BadRequest'],
    'value-too-large': [413, 'RequestEntityTooLarge'],
    'no-space': [500, 'InternalError'],
    'not-ready': [503, 'ServiceUnavailable'],
  }
  t.same(Object.keys(STORAGE_STATUS).sort(), Object.keys(expected).sort())
  for (const [code, [status, reason]] of Object.entries(expected)) {
    const shown = told(code as StorageErrorCode)
    t.equal(shown.code, status, code)
    t.equal(shown.reason || undefined, reason, code)
  }
})

t.test('what helps the client goes along', async (t) => {
  t.match(told('too-large', { resourceVersion: 9, currentRevision: 5 }), {
    message: /9, current: 5/,
    details: { retryAfterSeconds: 1, causes: [{ reason: 'ResourceVersionTooLarge' }] },
  })
  t.match(told('not-ready', { retryAfterSeconds: 3 }), { code: 429, details: { retryAfterSeconds: 3 } })
  t.match(told('too-old', { continueToken: 'next' }), { metadata: { continue: 'next' } })
  t.match(told('key-not-found'), { details: { group: 'example.com', kind: 'things', name: 'a' } })
})

t.test('other errors are passed on as they are', async (t) => {
  const error = new Error('ours')
  t.equal(interpretStorageError(error, RESOURCE, 'a'), error)
  await t.rejects(
    translated(RESOURCE, 'a', () => Promise.reject(error)),
    error,
  )
  await t.rejects(
    translated(RESOURCE, 'a', () => Promise.reject(new StorageError('key-exists', 'x'))),
    StatusError,
  )
  t.equal(await translated(RESOURCE, 'a', async () => 5), 5)
})

t.test('the version of an object that a client sent', async (t) => {
  t.equal(givenVersion(objectVersioner, {}), 0)
  t.equal(givenVersion(objectVersioner, { metadata: { resourceVersion: '12' } }), 12)
  t.throws(() => givenVersion(objectVersioner, { metadata: { resourceVersion: 'x' } }), { code: 500 })
})

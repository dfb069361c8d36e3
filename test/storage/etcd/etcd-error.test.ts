import { test } from 'tap'
import { StorageError } from '#keelson/storage/contract/errors.js'
import { isServerTrouble, toStorageError } from '#keelson/storage/etcd/etcd-error.js'
import { GrpcError } from '#keelson/storage/grpc/grpc-error.js'

test('what etcd says becomes a code of the contract', async (t) => {
  const table: [number, string, string][] = [
    [11, 'etcdserver: mvcc: required revision has been compacted', 'too-old'],
    [11, 'etcdserver: mvcc: required revision is a future revision', 'too-large'],
    [8, 'etcdserver: mvcc: database space exceeded', 'no-space'],
    [3, 'etcdserver: request is too large', 'value-too-large'],
    [8, 'grpc: received message larger than max (3000030 vs. 2097152)', 'value-too-large'],
    [5, 'etcdserver: requested lease not found', 'invalid-request'],
    [3, 'etcdserver: key is not provided', 'invalid-request'],
    [14, 'etcdserver: no leader', 'unreachable'],
    [14, 'etcdserver: request timed out', 'unreachable'],
    [4, 'context deadline exceeded', 'unreachable'],
    [8, 'etcdserver: too many requests', 'unreachable'],
    [2, 'anything', 'unreachable'],
  ]
  for (const [status, message, code] of table) {
    const error = toStorageError(new GrpcError(status, message), 'put /a')
    t.equal(error.code, code, message)
    t.match(error.message, message)
  }
})

test('only trouble of the server is worth another server', async (t) => {
  t.ok(isServerTrouble(new GrpcError(14, 'etcdserver: no leader')))
  t.ok(isServerTrouble(new GrpcError(4, 'no reply')))
  t.notOk(isServerTrouble(new GrpcError(1, 'the caller gave up')))
  t.notOk(isServerTrouble(new GrpcError(11, 'etcdserver: mvcc: required revision has been compacted')))
})

test('a storage error stays what it is', async (t) => {
  const error = new StorageError('too-old', 'x')
  t.equal(toStorageError(error, 'y'), error)
})

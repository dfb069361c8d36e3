import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { Cancellation } from '#keelson/lib/cancellation.js'
import type { DryRunnableStorage } from '#keelson/registry/generic/dry-run-storage.js'
import { RegistryStoreDeletion } from '#keelson/registry/generic/registry-store-deletion.js'
import type { RegistryStoreOptions } from '#keelson/registry/generic/registry-store-options.js'
import type { DeleteOptions, RequestContext } from '#keelson/registry/generic/strategy.js'
import { StorageError, type StorageErrorCode } from '#keelson/storage/contract/errors.js'
import { keyServiceUnreachable, TransformError } from '#keelson/storage/contract/transform-error.js'
import { requestContext } from '../../support/request-context.js'
import { noValidation, Things } from '../../support/things.js'

function deletionOver(get: () => Promise<unknown>): RegistryStoreDeletion {
  return new RegistryStoreDeletion({} as RegistryStoreOptions, { storage: { get } } as unknown as DryRunnableStorage)
}

t.test('only what is broken for good counts as unreadable', async (t) => {
  const failing = (error: Error) =>
    deletionOver(() => Promise.reject(error)).isUnreadable('/pods/ns/a', requestContext())
  const coded = (code: StorageErrorCode) => failing(new StorageError(code, 'x'))
  t.equal(await coded('corrupt-object'), true)
  t.equal(await coded('key-not-found'), false)
  t.equal(await coded('unreachable'), false)
  const outage = keyServiceUnreachable('/registry/pods/ns/a', new TransformError('kms', 'no answer'))
  t.equal(await failing(outage), false, 'a key service that is away never makes an object deletable')
  t.equal(await deletionOver(() => Promise.resolve({})).isUnreadable('/pods/ns/a', requestContext()), false)
})

const KEPT = { finalizers: ['example.com/hold'] }
const remove = (things: Things, options: DeleteOptions = {}, given: Partial<RequestContext> = {}) =>
  things.store.delete(things.context(given), 'a', options, noValidation)

t.test(
  'an object without finalizers goes at once; the answer is a Status, or the object where the kind wants it',
  async (t) => {
    const things = new Things()
    const { metadata } = await things.create('a')
    t.match(await remove(things), {
      deleted: true,
      result: { kind: 'Status', details: { name: 'a', group: 'example.com', kind: 'things', uid: metadata?.uid } },
    })
    t.equal(await things.stored('a'), undefined)
    await t.rejects(remove(things), { code: 404 })
    const showing = new Things({ store: { returnDeletedObject: true } })
    await showing.create('a', { spec: { n: 1 } })
    t.match(await remove(showing), { deleted: true, result: { kind: 'Thing', spec: { n: 1 } } })
  },
)

t.test('finalizers hold an object, which is marked once', async (t) => {
  const things = new Things({ rules: { generationFields: ['spec'] } })
  await things.create('a', {}, KEPT)
  const first = await remove(things)
  t.match(first, {
    deleted: false,
    result: { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0, generation: 2 } },
  })
  await things.clock.advance(60_000)
  t.match(await remove(things), { result: { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', generation: 2 } } })
})

t.test('propagation adds and removes its own finalizers only', async (t) => {
  const finalizersAfter = async (options: DeleteOptions, before: string[], enableGarbageCollection = true) => {
    const things = new Things({ store: { enableGarbageCollection } })
    await things.create('a', {}, { finalizers: before })
    await remove(things, options)
    return (await things.stored('a'))?.metadata?.finalizers
  }
  t.same(await finalizersAfter({ propagationPolicy: 'Orphan' }, ['x.y/z']), ['x.y/z', 'orphan'])
  t.same(await finalizersAfter({ propagationPolicy: 'Foreground' }, ['orphan']), ['foregroundDeletion'])
  t.same(await finalizersAfter({ propagationPolicy: 'Background' }, ['orphan']), undefined, 'it is gone')
  t.same(await finalizersAfter({ orphanDependents: true }, []), ['orphan'])
  t.same(await finalizersAfter({ propagationPolicy: 'Orphan' }, [], false), undefined, 'nobody collects garbage here')
})

t.test('a version is a precondition, also for an object that is marked first', async (t) => {
  const things = new Things()
  const { metadata } = await things.create('a', {}, { finalizers: ['orphan'] })
  const resourceVersion = metadata!.resourceVersion!
  await t.rejects(remove(things, { preconditions: { resourceVersion: '1' } }), { code: 409 })
  const preconditions = { resourceVersion }
  t.match(await remove(things, { preconditions, propagationPolicy: 'Background' }), { deleted: true })
  t.equal(await things.stored('a'), undefined)
})

t.test('validation runs on what is deleted, and may refuse it', async (t) => {
  const things = new Things()
  await things.create('a', { spec: { n: 1 } }, KEPT)
  const seen: unknown[] = []
  const refuse = (object: KubeObject) => {
    seen.push(object['spec'])
    throw new Error('it stays')
  }
  await t.rejects(things.store.delete(things.context(), 'a', {}, refuse), { message: 'it stays' })
  t.same(seen, [{ n: 1 }])
  t.equal((await things.get('a')).metadata?.deletionTimestamp, undefined)
})

t.test('a finalizer that another writer adds meanwhile is seen', async (t) => {
  const things = new Things()
  await things.create('a', {}, { finalizers: ['orphan'] })
  let once = true
  things.kv.interfere = async (call) => {
    if (call !== 'delete' && call !== 'put') return
    if (!once) return
    once = false
    await things.interfere('a', ({ metadata }) => metadata!.finalizers!.push('example.com/late'))
  }
  const { deleted } = await remove(things, { propagationPolicy: 'Foreground' })
  t.equal(deleted, false)
  t.same((await things.stored('a'))?.metadata?.finalizers?.sort(), ['example.com/late', 'foregroundDeletion'])
})

t.test('a finalizer that comes when nothing held the object any more holds it', async (t) => {
  const things = new Things()
  await things.create('a')
  let storms = 1
  things.kv.interfere = async (call) => {
    if (call !== 'delete' || storms-- <= 0) return
    await things.interfere('a', ({ metadata }) => {
      metadata!.finalizers = ['example.com/late']
    })
  }
  t.match(await remove(things), { deleted: false, result: { metadata: { finalizers: ['example.com/late'] } } })
  t.match(await things.get('a'), { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
})

t.test('a dry run answers as a deletion does and leaves everything', async (t) => {
  const gone: string[] = []
  const things = new Things({ store: { afterDelete: (_, { dryRun }) => void (dryRun || gone.push('gone')) } })
  const made = await things.create('a', {}, KEPT)
  t.match(await remove(things, {}, { dryRun: true }), {
    deleted: false,
    result: { metadata: { deletionTimestamp: /./ } },
  })
  t.same(await things.get('a'), made)
  t.match(await remove(things, { propagationPolicy: 'Background' }, { dryRun: true }), { deleted: false })
  await t.rejects(remove(things, { preconditions: { uid: 'x' } }, { dryRun: true }), { code: 409 })
  t.same(gone, [])
})

t.test('what cannot be read is deleted without being looked at; what can be is not', async (t) => {
  const things = new Things()
  await things.create('a', {}, KEPT)
  await t.rejects(things.store.deleteUnreadable(things.context(), 'a'), { code: 409 })
  const { kv } = await things.memory.get('/registry/things/default/a')
  await things.memory.optimisticPut(kv!.key, Buffer.from('broken'), kv!.modRevision)
  t.equal(await things.store.isUnreadable(things.context(), 'a'), true)
  await t.rejects(
    things.store.deleteUnreadable(things.context(), 'a', { uid: 'u' }),
    { code: 409 },
    'its uid is not known',
  )
  await things.store.deleteUnreadable(things.context({ dryRun: true }), 'a')
  t.ok((await things.memory.get(kv!.key)).kv)
  await things.store.deleteUnreadable(things.context(), 'a')
  t.equal((await things.memory.get(kv!.key)).kv, undefined)
})

t.test('a request that was given up deletes nothing', async (t) => {
  const things = new Things()
  await things.create('a')
  const signal = new Cancellation()
  things.kv.interfere = () => signal.abort(new Error('gone'))
  await t.rejects(remove(things, {}, { signal }), { code: 504 })
  t.ok(await things.stored('a'))
})

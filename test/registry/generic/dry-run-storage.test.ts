import t, { type Test } from 'tap'
import { DryRunnableStorage } from '#keelson/registry/generic/dry-run-storage.js'
import { Things, thing } from '../../support/things.js'

const KEY = '/things/default/a'

async function open(t: Test) {
  const things = new Things()
  await things.create('a', { spec: { n: 1 } })
  const storage = new DryRunnableStorage(things.storage)
  const revision = await things.memory.currentRevision()
  const untouched = async () => t.equal(await things.memory.currentRevision(), revision, 'nothing was written')
  return { things, storage, untouched }
}

t.test('a create is refused as a real one would be', async (t) => {
  const { storage, untouched } = await open(t)
  t.match(await storage.create('/things/default/b', thing('b'), {}, true), { metadata: { name: 'b' } })
  await t.rejects(storage.create(KEY, thing('a'), {}, true), { code: 'key-exists' })
  await untouched()
})

t.test('a storage that does not answer is told, not taken for an empty place', async (t) => {
  const { things, storage, untouched } = await open(t)
  things.kv.failNext({ call: 'get', when: 'before' })
  await t.rejects(storage.create('/things/default/b', thing('b'), {}, true), { code: 'unreachable' })
  await untouched()
})

t.test('a deletion checks what a real one checks', async (t) => {
  const { storage, untouched } = await open(t)
  t.match(await storage.delete(KEY, {}, true), { spec: { n: 1 } })
  await t.rejects(storage.delete(KEY, { preconditions: { uid: 'another' } }, true), { code: 'invalid-object' })
  const validateDeletion = () => {
    throw new Error('it stays')
  }
  await t.rejects(storage.delete(KEY, { validateDeletion }, true), { message: 'it stays' })
  await t.rejects(storage.delete('/things/default/b', {}, true), { code: 'key-not-found' })
  await untouched()
})

t.test('an update runs its function once, on what is stored', async (t) => {
  const { things, storage, untouched } = await open(t)
  const versions: number[] = []
  const updated = await storage.guaranteedUpdate(
    KEY,
    (object, { resourceVersion }) => {
      versions.push(resourceVersion)
      return { object: { ...object, spec: { n: 2 } } }
    },
    {},
    true,
  )
  t.match(updated, { spec: { n: 2 } })
  const { metadata } = await things.get('a')
  t.same(versions, [Number(metadata?.resourceVersion)])
  await untouched()
})

t.test('an update of what is not there begins with nothing, where that is allowed', async (t) => {
  const { storage, untouched } = await open(t)
  const tryUpdate = (object: object) => ({ object: { ...object, made: true } })
  t.match(await storage.guaranteedUpdate('/things/default/b', tryUpdate, { ignoreNotFound: true }, true), {
    made: true,
  })
  await t.rejects(storage.guaranteedUpdate('/things/default/b', tryUpdate, {}, true), { code: 'key-not-found' })
  const preconditions = { resourceVersion: '1' }
  await t.rejects(storage.guaranteedUpdate(KEY, tryUpdate, { preconditions }, true), { code: 'invalid-object' })
  await untouched()
})

t.test('a dry run and the real thing refuse in the same words', async (t) => {
  const { things, storage } = await open(t)
  const words = async (dryRun: boolean, preconditions: object) => {
    const refused = storage.delete(KEY, { preconditions }, dryRun)
    return refused.then(
      () => 'deleted',
      (error: Error) => error.message.replace(/\/registry/, ''),
    )
  }
  for (const preconditions of [{ uid: 'another' }, { resourceVersion: '1' }])
    t.equal(await words(true, preconditions), await words(false, preconditions))
  await things.interfere('a', ({ metadata }) => {
    delete metadata!.uid
  })
  t.equal(await words(true, { uid: '' }), 'deleted', 'who demands nothing gets it')
})

t.test('what is no dry run goes to the storage', async (t) => {
  const things = new Things()
  const storage = new DryRunnableStorage(things.storage)
  await storage.create(KEY, thing('a'), {}, false)
  await storage.guaranteedUpdate(KEY, (object) => ({ object: { ...object, n: 1 } }), {}, false)
  t.match(await things.stored('a'), { n: 1 })
  await storage.delete(KEY, {}, false)
  t.equal(await things.stored('a'), undefined)
})

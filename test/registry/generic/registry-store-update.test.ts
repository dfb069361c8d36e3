import t from 'tap'
import { deepCopy, type KubeObject } from '#keelson/api/object.js'
import { Cancellation } from '#keelson/lib/cancellation.js'
import type { RequestContext } from '#keelson/registry/generic/strategy.js'
import { noValidations, Things } from '../../support/things.js'

const update = (
  things: Things,
  change: (object: KubeObject) => KubeObject,
  { name = 'a', force = false, ...context }: Partial<RequestContext> & { name?: string; force?: boolean } = {},
) =>
  things.store.update(
    things.context(context),
    name,
    { updatedObject: (existing) => change(deepCopy(existing)) },
    noValidations,
    force,
  )
const withSpec = (n: number) => (object: KubeObject) => ({ ...object, spec: { n } })
const unversioned = (object: KubeObject): KubeObject => {
  delete object.metadata!.resourceVersion
  return object
}

async function withA(options: ConstructorParameters<typeof Things>[0] = {}, metadata: object = {}) {
  const things = new Things(options)
  return { things, a: await things.create('a', { spec: { n: 0 } }, metadata) }
}

t.test('the new state is made from the stored one', async (t) => {
  const { things } = await withA({ rules: { generationFields: ['spec'] } })
  const { object, created } = await update(things, withSpec(1))
  t.equal(created, false)
  t.match(object, { spec: { n: 1 }, metadata: { generation: 2 } })
  t.same(await things.get('a'), object)
})

t.test('who lost the race goes on from what the winner left; who named a version does not', async (t) => {
  const { things } = await withA()
  let storms = 2
  things.kv.interfere = async (call) => {
    if (call !== 'put' || storms-- <= 0) return
    await things.interfere('a', (object) => {
      object['spec'] = { n: Number((object['spec'] as { n: number }).n) + 10 }
    })
  }
  const increment = (object: KubeObject) =>
    withSpec(Number((object['spec'] as { n: number }).n) + 1)(unversioned(object))
  t.match((await update(things, increment)).object, { spec: { n: 21 } })
  storms = 1
  const { metadata } = await things.get('a')
  const versioned = (object: KubeObject) => withSpec(0)({ ...object, metadata: { ...metadata } })
  await t.rejects(update(things, versioned), { code: 409, message: /please apply your changes to the latest version/ })
})

t.test('a kind may want to be told the version', async (t) => {
  const { things } = await withA({ rules: { allowUnconditionalUpdate: false } })
  await t.rejects(update(things, unversioned), { code: 422 })
  t.equal((await update(things, withSpec(1))).created, false)
})

t.test('a uid is a precondition', async (t) => {
  const { things, a } = await withA()
  const guarded = (uid: string) =>
    things.store.update(things.context(), 'a', { preconditions: { uid }, updatedObject: withSpec(1) }, noValidations)
  await t.rejects(guarded('another'), { code: 409 })
  t.match((await guarded(a.metadata!.uid!)).object, { spec: { n: 1 } })
})

t.test('what is not there is created only where that is allowed', async (t) => {
  const things = new Things()
  const make = () => ({ metadata: { name: 'a', uid: 'copied', resourceVersion: '5' }, spec: { n: 1 } })
  await t.rejects(update(things, make), { code: 404 })
  const { object, created } = await update(things, make, { force: true })
  t.equal(created, true)
  t.not(object.metadata?.uid, 'copied')
  const lenient = new Things({ rules: { allowCreateOnUpdate: true } })
  t.equal((await update(lenient, make)).created, true)
})

t.test('an object that appears while it is being created is updated instead', async (t) => {
  const things = new Things()
  let once = true
  things.kv.interfere = async (call) => {
    if (call !== 'put' || !once) return
    once = false
    await things.create('a', { spec: { n: 5 } })
  }
  const { object, created } = await update(
    things,
    (existing) => ({ ...existing, metadata: { ...existing.metadata, name: 'a' }, mine: true }),
    { force: true },
  )
  t.equal(created, false)
  t.match(object, { spec: { n: 5 }, mine: true })
})

t.test('what hooks took for an attempt that lost is given back before the next takes anew', async (t) => {
  const log: string[] = []
  const { things } = await withA({
    store: {
      beginUpdate: async () => {
        log.push('take')
        return (succeeded) => void log.push(succeeded ? 'keep' : 'give back')
      },
    },
  })
  let once = true
  things.kv.interfere = async (call) => {
    if (call !== 'put' || !once) return
    once = false
    await things.interfere('a', (object) => {
      object['other'] = 1
    })
  }
  await update(things, (object) => withSpec(1)(unversioned(object)))
  t.same(log, ['take', 'give back', 'take', 'keep'])
  log.length = 0
  things.kv.failNext({ call: 'put', when: 'after' })
  await t.rejects(update(things, withSpec(2)), { code: 504 })
  t.same(log, ['take'], 'it may have been written')
})

t.test('taking the last finalizer off an object that waits for it deletes it', async (t) => {
  const gone: string[] = []
  const { things } = await withA(
    { store: { afterDelete: ({ metadata }) => void gone.push(metadata!.name!) } },
    { finalizers: ['example.com/a', 'example.com/b'] },
  )
  await things.store.delete(things.context(), 'a', {}, () => undefined)
  const keeping =
    (...finalizers: string[]) =>
    (object: KubeObject) => {
      object.metadata!.finalizers = finalizers
      return object
    }
  await update(things, keeping('example.com/a'))
  t.same(gone, [])
  await update(things, keeping(), { dryRun: true })
  t.ok(await things.stored('a'), 'a dry run leaves it')
  gone.length = 0
  const { object } = await update(things, keeping())
  t.same(gone, ['a'])
  t.equal(object.metadata?.name, 'a', 'the client gets what it sent')
  t.equal(await things.stored('a'), undefined)
})

t.test('what is written while the last finalizer is taken is not deleted with it', async (t) => {
  const { things } = await withA({}, { finalizers: ['example.com/a'] })
  await things.store.delete(things.context(), 'a', {}, () => undefined)
  const { metadata } = await things.get('a')
  let storms = 1
  things.kv.interfere = async (call) => {
    if (call !== 'delete' || storms-- <= 0) return
    await things.interfere('a', (object) => {
      object['spec'] = { n: 7 }
    })
  }
  const emptied = (object: KubeObject) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } })
  const versioned = (object: KubeObject) => emptied({ ...object, metadata: { ...metadata } })
  await t.rejects(update(things, versioned), { code: 409, message: /please apply your changes to the latest version/ })
  t.match(await things.get('a'), { spec: { n: 7 } }, 'an acknowledged write is kept')
  storms = 1
  await update(things, (object) => emptied(unversioned(object)))
  t.equal(await things.stored('a'), undefined, 'who named no version goes on from the newest')
})

t.test('a kind may have more reasons to keep an object', async (t) => {
  let mayGo = false
  const { things } = await withA(
    { store: { shouldDeleteDuringUpdate: () => mayGo } },
    { finalizers: ['example.com/a'] },
  )
  await things.store.delete(things.context(), 'a', {}, () => undefined)
  const emptied = (object: KubeObject) => {
    object.metadata!.finalizers = []
    return object
  }
  await update(things, emptied)
  t.ok(await things.stored('a'))
  mayGo = true
  await update(things, emptied)
  t.equal(await things.stored('a'), undefined)
})

t.test('who is told: after an update, or after a create', async (t) => {
  const log: string[] = []
  const things = new Things({
    store: { afterCreate: () => void log.push('created'), afterUpdate: () => void log.push('updated') },
  })
  await update(things, () => ({ metadata: { name: 'a' } }), { force: true })
  await update(things, withSpec(1))
  t.same(log, ['created', 'updated'])
})

t.test('a dry run stores nothing', async (t) => {
  const { things, a } = await withA()
  const { object } = await update(things, withSpec(1), { dryRun: true })
  t.match(object, { spec: { n: 1 } })
  t.same(await things.get('a'), a)
})

t.test('a request that was given up stops between attempts', async (t) => {
  const { things, a } = await withA()
  const signal = new Cancellation()
  things.kv.interfere = () => signal.abort(new Error('gone'))
  await t.rejects(update(things, withSpec(1), { signal }), { code: 504 })
  t.same(await things.get('a'), a)
})

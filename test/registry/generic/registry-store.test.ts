import t from 'tap'
import { parseListOptions } from '#keelson/api/list-options.js'
import { parseSelectors } from '#keelson/api/selectors.js'
import { Cancellation } from '#keelson/lib/cancellation.js'
import { completeWithOptions, RegistryStore } from '#keelson/registry/generic/registry-store.js'
import type { RegistryStoreOptions } from '#keelson/registry/generic/registry-store-options.js'
import { StorageError } from '#keelson/storage/contract/errors.js'
import { noValidation, THINGS, Things, thing, thingStrategy } from '../../support/things.js'

const selecting = (query: Record<string, string>) =>
  parseSelectors(parseListOptions(new URLSearchParams(query), false), ['metadata.name'])
const EVERYTHING = selecting({})
const PAGE = { resourceVersion: '', resourceVersionMatch: '', limit: 0, continueToken: '' } as const

function complete(given: Partial<RegistryStoreOptions>): RegistryStore {
  const strategy = thingStrategy()
  return completeWithOptions({
    groupResource: THINGS,
    storage: new Things().storage,
    keyPrefix: '/things',
    createStrategy: strategy,
    updateStrategy: strategy,
    deleteStrategy: strategy,
    getAttributes: () => {
      throw new Error('nothing is selected here')
    },
    enableGarbageCollection: true,
    deleteCollectionWorkers: 1,
    ...given,
  })
}

t.test('a store that could not serve is not made', async (t) => {
  const clusterScoped = Object.assign(thingStrategy(), { namespaceScoped: false })
  t.ok(complete({}) instanceof RegistryStore)
  const wrong: Partial<RegistryStoreOptions>[] = [
    { groupResource: { group: '', resource: '' } },
    { updateStrategy: clusterScoped },
    { keyPrefix: '' },
    { keyPrefix: '/' },
    { keyPrefix: 'things' },
    { keyPrefix: '/things/' },
    { deleteCollectionWorkers: 0 },
  ]
  for (const given of wrong) t.throws(() => complete(given), { name: 'StoreConfigError' }, Object.keys(given).join())
})

t.test('keys are below the prefix, by namespace and name', async (t) => {
  const { store } = new Things()
  t.equal(store.key('default', 'a'), '/things/default/a')
  t.equal(store.keyRoot(''), '/things/')
  t.equal(store.keyRoot('default'), '/things/default/')
  t.throws(() => store.key('', 'a'), { code: 400 })
  t.throws(() => store.key('default', ''), { code: 400 })
})

t.test('what the server adds, and what it does not let in', async (t) => {
  const things = new Things({ rules: { generationFields: ['spec'] } })
  const made = await things.create('a', { spec: { x: 1 }, status: { y: 2 } })
  t.match(made.metadata, { namespace: 'default', generation: 1, uid: /./, creationTimestamp: '2026-01-01T00:00:00Z' })
  t.equal(made['status'], undefined, 'a new object has no status')
  t.same(await things.get('a'), made)
})

t.test('a generated name that is taken is made again, eight times at most', async (t) => {
  let made = 0
  const names = ['taken', 'taken', 'free']
  const things = new Things({ rules: { generateName: () => names[made++] ?? 'taken' } })
  await things.create('taken')
  const generated = () => things.store.create(things.context(), { metadata: { generateName: 'x-' } }, noValidation)
  t.equal((await generated()).metadata?.name, 'free')
  t.equal(made, 3)
  made = 3
  await t.rejects(generated(), { code: 409, message: /not able to generate a unique name/ })
  t.equal(made, 3 + 8)
})

t.test('a given name is tried once', async (t) => {
  const things = new Things()
  await things.create('a')
  things.kv.calls.length = 0
  await t.rejects(things.create('a'), { code: 409 })
  t.same(things.kv.calls, ['put'])
})

t.test('a refusal by validation stores nothing', async (t) => {
  const things = new Things()
  const refuse = () => {
    throw new Error('refused')
  }
  await t.rejects(things.store.create(things.context(), thing('a'), refuse), { message: 'refused' })
  t.same(things.kv.calls, [])
})

t.test(
  'what a hook took is kept when the write succeeds, given back when it fails, kept when nobody knows',
  async (t) => {
    const finished: boolean[] = []
    const begun = { beginCreate: async () => (succeeded: boolean) => void finished.push(succeeded) }
    const things = new Things({ store: begun })
    await things.create('a')
    t.same(finished.splice(0), [true])
    await t.rejects(things.create('a'), { code: 409 })
    t.same(finished.splice(0), [false])
    await t.rejects(things.create('Not_A_Name'), { code: 422 })
    t.same(finished.splice(0), [false])
    things.kv.failNext({ call: 'put', when: 'after' })
    await t.rejects(things.create('b'), { code: 504 })
    t.same(finished.splice(0), [], 'it may have been written')
  },
)

t.test('what is told and shown after a create is what was stored', async (t) => {
  const log: string[] = []
  const things = new Things({
    store: {
      afterCreate: ({ metadata }) => void log.push(`created ${metadata?.name}`),
      decorate: (object) => {
        object['shown'] = true
      },
    },
  })
  t.equal((await things.create('a'))['shown'], true)
  t.equal((await things.stored('a'))?.['shown'], undefined, 'what is shown is not stored')
  t.equal((await things.get('a'))['shown'], true)
  const { items } = await things.store.list(things.context(), EVERYTHING, PAGE)
  t.same(
    items.map((item) => item['shown']),
    [true],
  )
  t.same(log, ['created a'])
})

t.test('objects live as long as the resource says', async (t) => {
  const things = new Things({ store: { ttlSeconds: () => 60 } })
  await things.create('a')
  t.not((await things.memory.get('/registry/things/default/a')).kv?.lease, 0n)
})

t.test('a dry run checks and stores nothing', async (t) => {
  const things = new Things()
  const dryRun = things.context({ dryRun: true })
  t.match(await things.store.create(dryRun, thing('a'), noValidation), { metadata: { name: 'a', uid: /./ } })
  t.equal(await things.stored('a'), undefined)
  await things.create('a')
  await t.rejects(things.store.create(dryRun, thing('a'), noValidation), { code: 409 })
})

t.test('lists are of a namespace or of all, selected and paged', async (t) => {
  const things = new Things()
  for (const name of ['a', 'b', 'c']) await things.create(name, {}, { labels: { odd: String(name !== 'b') } })
  await things.store.create(things.context({ namespace: 'other' }), thing('d'), noValidation)
  const names = async (namespace: string, labelSelector = '', page: object = {}) => {
    const selectors = selecting({ labelSelector })
    const list = await things.store.list(things.context({ namespace }), selectors, { ...PAGE, ...page })
    return { names: list.items.map(({ metadata }) => metadata?.name).join(''), token: list.continueToken }
  }
  t.equal((await names('default')).names, 'abc')
  t.equal((await names('')).names, 'abcd')
  t.equal((await names('', 'odd=true')).names, 'ac')
  const first = await names('', '', { limit: 3 })
  t.equal(first.names, 'abc')
  t.equal((await names('', '', { limit: 3, continueToken: first.token })).names, 'd')
})

t.test('a watch is of one object when a name is all that can match', async (t) => {
  const things = new Things()
  const seen: unknown[] = []
  t.intercept(things.storage, 'watch', {
    value: async (key: string, { recursive }: { recursive: boolean }) => void seen.push([key, recursive]),
  })
  const watch = (namespace: string, name: string, fieldSelector = '') =>
    things.store.watch(things.context({ namespace }), selecting({ fieldSelector }), {
      name,
      resourceVersion: '',
      allowWatchBookmarks: false,
    })
  await watch('default', 'a')
  await watch('default', '', 'metadata.name=b')
  await watch('default', '')
  await watch('', '', 'metadata.name=b')
  t.same(seen, [
    ['/things/default/a', false],
    ['/things/default/b', false],
    ['/things/default/', true],
    ['/things/', true],
  ])
})

t.test('a change past all strategies keeps preconditions and retries', async (t) => {
  const things = new Things()
  const { metadata } = await things.create('a', { spec: { n: 0 } })
  let once = true
  things.kv.interfere = async (call) => {
    if (call !== 'put' || !once) return
    once = false
    await things.interfere('a', (object) => {
      object['other'] = true
    })
  }
  const changed = await things.store.change(things.context(), 'a', (object) => ({ ...object, status: { n: 1 } }))
  t.match(changed, { other: true, status: { n: 1 } })
  const wrong = things.store.change(things.context(), 'a', (object) => object, { uid: 'another' })
  await t.rejects(wrong, { code: 409 })
  await things.store.change(things.context(), 'a', (object) => object, { uid: metadata!.uid! })
  await t.rejects(
    things.store.change(things.context(), 'x', (object) => object),
    { code: 404 },
  )
})

t.test('failures of the storage are told as Statuses, other errors as they are', async (t) => {
  const things = new Things()
  things.kv.failNext({ call: 'get', when: 'before' })
  await t.rejects(things.get('a'), { code: 504 })
  things.kv.failNext({ call: 'get', when: 'before', error: new StorageError('no-space', 'full') })
  await t.rejects(things.get('a'), { code: 500 })
  things.kv.failNext({ call: 'get', when: 'before', error: new TypeError('ours') })
  await t.rejects(things.get('a'), TypeError)
})

t.test('every call of a request carries its signal', async (t) => {
  const things = new Things()
  const signal = new Cancellation()
  const given: unknown[] = []
  const { memory } = things
  for (const call of ['get', 'list', 'optimisticPut', 'optimisticDelete'] as const) {
    const plain = memory[call].bind(memory) as (...args: unknown[]) => Promise<unknown>
    t.intercept(memory, call, {
      value: (...args: unknown[]) => {
        given.push((args.at(-1) as { signal?: unknown }).signal)
        return plain(...args)
      },
    })
  }
  const context = things.context({ signal })
  const dryRun = { ...context, dryRun: true }
  const { store } = things
  for (const at of [context, dryRun]) await store.create(at, thing(at.dryRun ? 'b' : 'a'), noValidation)
  await store.get(context, 'a')
  await store.list(context, EVERYTHING, PAGE)
  await store.isUnreadable(context, 'a')
  for (const at of [dryRun, context]) await store.change(at, 'a', (object) => ({ ...object, x: at.dryRun }))
  for (const at of [dryRun, context]) await store.delete(at, 'a', {}, noValidation)
  t.ok(given.length >= 10)
  t.ok(given.every((one) => one === signal))
})

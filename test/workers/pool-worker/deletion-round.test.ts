import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import type { RegistryStore } from '#keelson/registry/generic/registry-store.js'
import { StorageError } from '#keelson/storage/contract/errors.js'
import type { ListOptions } from '#keelson/storage/contract/interface.js'
import { DeletionRound } from '#keelson/workers/pool-worker/deletion-round.js'

interface Costs {
  /** What it takes to read an object, and to delete one. */
  readonly readMs?: number
  readonly removeMs?: number
  readonly fails?: (name: string) => boolean
}

const nameOf = (i: number): string => `o${String(i).padStart(5, '0')}`

/** A storage whose objects take their time, by a clock that only they move. */
function open(count: number, { readMs = 0, removeMs = 0, fails = () => false }: Costs = {}) {
  const objects = new Map<string, KubeObject>()
  for (let i = 0; i < count; i++) objects.set(nameOf(i), { metadata: { name: nameOf(i), namespace: 'default' } })
  const state = { nowMs: 0, compactedAtPage: -1, pages: [] as { limit: number; ms: number }[], removed: [] as string[] }
  const storage = {
    async getList(_: string, { resourceVersion, predicate: { limit, continueToken } }: ListOptions<KubeObject>) {
      if (resourceVersion !== '') throw new Error('the list is not linearizable')
      if (state.pages.length === state.compactedAtPage) {
        state.compactedAtPage = -1
        throw new StorageError('too-old', 'compacted', { continueToken })
      }
      const after = [...objects.values()].filter(({ metadata }) => (metadata?.name ?? '') > continueToken)
      const items = limit === 0 ? after : after.slice(0, limit)
      state.nowMs += items.length * readMs
      state.pages.push({ limit, ms: items.length * readMs })
      const hasMore = items.length < after.length
      return { items, resourceVersion: 1, continueToken: hasMore ? items.at(-1)!.metadata!.name! : '' }
    },
    count: async () => objects.size,
  }
  const store = { storage, keyRoot: () => '/things/' } as unknown as RegistryStore
  const run = (workers = 1): Promise<number> =>
    new DeletionRound({
      store,
      now: () => state.nowMs,
      async remove({ name }) {
        if (fails(name)) throw new Error(`${name} stays`)
        state.nowMs += removeMs
        state.removed.push(name)
        objects.delete(name)
      },
      workers,
    }).run()
  return { objects, state, run }
}

t.test('objects are read in pages, and each is deleted once', async (t) => {
  const { state, run } = open(1_000)
  t.equal(await run(4), 0)
  t.equal(new Set(state.removed).size, 1_000)
  t.equal(state.removed.length, 1_000)
  t.ok(
    state.pages.every(({ limit }) => limit > 0 && limit <= 100),
    'no page is larger than 100 objects',
  )
})

t.test('other tasks of the thread run between any two objects', async (t) => {
  const { state, run } = open(200)
  let isDone = false
  let most = 0
  let before = 0
  const other = (): void => {
    most = Math.max(most, state.removed.length - before)
    before = state.removed.length
    if (!isDone) setImmediate(other)
  }
  setImmediate(other)
  t.equal(await run(2), 0)
  isDone = true
  t.ok(most <= 4, `at most ${most} objects were deleted in a turn`)
})

t.test('pages of objects that take long to read become small', async (t) => {
  const { state, run } = open(200, { readMs: 40 })
  t.ok((await run()) > 0)
  t.same(state.pages.map(({ limit }) => limit).slice(0, 5), [20, 10, 5, 2, 4])
})

t.test('a round ends when its time is up, and the next ones finish', async (t) => {
  const { state, run } = open(1_000, { removeMs: 10 })
  let rounds = 0
  for (let left = 1_000; left > 0; rounds++) {
    const startedMs = state.nowMs
    const next = await run()
    t.ok(next < left, `${next} are left`)
    t.ok(state.nowMs - startedMs <= 2_000)
    left = next
  }
  t.equal(rounds, 5)
  t.equal(state.removed.length, 1_000)
})

t.test('objects that wait for finalizers are left alone, and those behind them are reached', async (t) => {
  const { objects, state, run } = open(400, { readMs: 20 })
  for (let i = 0; i < 399; i++)
    objects.get(nameOf(i))!.metadata = {
      name: nameOf(i),
      finalizers: ['example.com/a'],
      deletionTimestamp: '2026-01-01T00:00:00Z',
    }
  t.equal(await run(), 399)
  t.same(state.removed, [nameOf(399)])
})

t.test('a round goes on with the newest state when its own has been compacted', async (t) => {
  const { state, run } = open(300)
  state.compactedAtPage = 1
  t.equal(await run(), 0)
  t.equal(state.removed.length, 300)
})

t.test('a deletion that fails fails the round, behind which nothing is under way', async (t) => {
  const { state, run } = open(10, { fails: (name) => name === nameOf(0) })
  await t.rejects(run(2), { message: `${nameOf(0)} stays` })
  const { length } = state.removed
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(state.removed.length, length)
})

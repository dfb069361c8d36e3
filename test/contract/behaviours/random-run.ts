import { equals, makePod, type Pod, podKey, versionOf } from '../pod.js'
import type { Subject, Watching } from '../subject.js'
import { behaviour } from '../suite.js'

/** Numbers in [0, 1) that are the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type State = ReadonlyMap<string, Pod>

/** Creates, changes and deletes a few objects over and over; gives the state after each write, by its version. */
async function randomWrites(s: Subject, count: number, random: () => number): Promise<Map<number, State>> {
  const history = new Map<number, State>()
  let live = new Map<string, Pod>()
  const pick = <V>(values: readonly V[]): V => values[Math.floor(random() * values.length)]!
  for (let i = 0; i < count; i++) {
    const pod = makePod(pick(['a', 'b', 'c', 'd', 'e']), pick(['one', 'two', 'two-more']))
    const key = podKey(pod)
    live = new Map(live)
    let revision: number
    if (!live.has(key)) {
      const created = await s.create({
        ...pod,
        metadata: { ...pod.metadata, labels: { color: pick(['red', 'blue']) } },
      })
      live.set(key, created)
      revision = versionOf(created)
    } else if (random() < 0.35) {
      revision = versionOf(await s.storage.delete(key))
      live.delete(key)
    } else {
      const updated = await s.label(pod, { color: pick(['red', 'blue']), round: String(i) })
      live.set(key, updated)
      revision = versionOf(updated)
    }
    history.set(revision, live)
  }
  return history
}

const sortedPods = (state: State, prefix = '/pods/'): Pod[] =>
  [...state.entries()]
    .filter(([key]) => key.startsWith(prefix))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, pod]) => pod)

const isRed = (pod: Pod): boolean => pod.metadata?.labels?.['color'] === 'red'

/** The state that a watcher has made of its events once it has seen everything up to a version. */
async function replay(watch: Watching, start: State, until: number): Promise<State> {
  const state = new Map(start)
  for (;;) {
    const { type, object, resourceVersion } = await watch.nextObject()
    if (resourceVersion >= until) return state
    const key = podKey(object)
    if (type === 'DELETED') {
      if (!state.delete(key)) throw new Error(`${key} was deleted and had not been there`)
    } else {
      if (state.has(key) !== (type === 'MODIFIED')) throw new Error(`${type} ${key} at ${resourceVersion}`)
      state.set(key, object)
    }
  }
}

export const randomRun = [
  behaviour('after a long random run every list at every version is the state at that version', async (t, s) => {
    const random = seeded(7)
    const history = await randomWrites(s, 120, random)
    for (const [revision, state] of history) {
      const at = { resourceVersion: String(revision), resourceVersionMatch: 'Exact' } as const
      const prefix = random() < 0.5 ? '/pods/' : '/pods/two/'
      const wanted = sortedPods(state, prefix)
      t.same((await s.list(prefix, at)).items, wanted, `${prefix} at ${revision}`)
      if (random() < 0.3) {
        const red = await s.list(prefix, { ...at, label: equals('color', 'red') })
        t.same(red.items, wanted.filter(isRed), `red ones of ${prefix} at ${revision}`)
      }
      if (random() < 0.3) {
        const first = await s.list(prefix, { ...at, limit: 2 })
        const rest =
          first.continueToken === '' ? [] : (await s.list(prefix, { continueToken: first.continueToken })).items
        t.same([...first.items, ...rest], wanted, `pages of ${prefix} at ${revision}`)
      }
    }
  }),

  behaviour('whoever watches a long random run from any version ends with the state of the store', async (t, s) => {
    const start = await s.increaseRevision()
    const early = await s.watch('/pods/', { resourceVersion: String(start) })
    const earlyRed = await s.watch('/pods/', { resourceVersion: String(start), label: equals('color', 'red') })
    const history = await randomWrites(s, 120, seeded(11))
    const versions = [...history.keys()]
    const middle = versions[60]!
    const late = await s.watch('/pods/', { resourceVersion: String(middle) })
    const lateRed = await s.watch('/pods/', { resourceVersion: String(middle), label: equals('color', 'red') })
    const end = versionOf(await s.create(makePod('end', 'z', { labels: { color: 'red' } })))
    const final = sortedPods(history.get(versions.at(-1)!)!)
    const halfway = history.get(middle)!
    const red = (state: State): State => new Map([...state].filter(([, pod]) => isRed(pod)))
    t.same(sortedPods(await replay(early, new Map(), end)), final)
    t.same(sortedPods(await replay(late, halfway, end)), final)
    t.same(sortedPods(await replay(earlyRed, new Map(), end)), final.filter(isRed))
    t.same(sortedPods(await replay(lateRed, red(halfway), end)), final.filter(isRed))
  }),
]

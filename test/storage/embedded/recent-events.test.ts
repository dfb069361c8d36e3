import t from 'tap'
import type { KvEvent } from '#keelson/storage/contract/kv.js'
import { RecentEvents } from '#keelson/storage/embedded/recent-events.js'

const VALUE_BYTES = 64 * 1024
const MANY = 400

const put = (revision: number): KvEvent => ({
  type: 'put',
  kv: {
    key: `/registry/things/${revision}`,
    value: new Uint8Array(VALUE_BYTES),
    modRevision: revision,
    createRevision: revision,
    version: 1,
    lease: 0n,
  },
  prev: undefined,
})

/** The oldest revision that is in memory after so many commits of one event each. */
function oldest(passedBefore: (revision: number) => number): number {
  const recent = new RecentEvents(0)
  for (let revision = 1; revision <= MANY; revision++) recent.append([put(revision)], passedBefore(revision))
  t.not(recent.at(MANY), undefined, 'the newest event is there')
  for (let revision = 1; ; revision++) if (recent.at(revision) !== undefined) return revision
}

t.test('what all watches have got is let go, but for the last of it', async (t) => {
  const first = oldest((revision) => revision)
  t.ok(first < MANY, 'some stay for a watch that begins a little in the past')
  t.ok((MANY - first) * VALUE_BYTES <= 512 * 1024, `${MANY - first} events stay`)
})

t.test('what a watch has not got stays, up to 8 MiB', async (t) => {
  const first = oldest(() => 1)
  t.ok((MANY - first) * VALUE_BYTES > 7 * 1024 * 1024, `${MANY - first} events stay`)
  t.ok((MANY - first) * VALUE_BYTES <= 8 * 1024 * 1024, `${MANY - first} events stay`)
})

t.test('a commit that is larger than what is kept has all of its events until they were got', async (t) => {
  const recent = new RecentEvents(0)
  recent.append(
    Array.from({ length: 64 }, (_, i) => put(i + 1)),
    1,
  )
  t.not(recent.at(1), undefined)
  t.not(recent.at(64), undefined)
})

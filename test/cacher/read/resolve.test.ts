import t from 'tap'
import { ANY, arrive, NEWEST, openSnapshot, resolveGet, resolveWatch } from '#keelson/cacher/read/resolve.js'
import type { ResourceView } from '#keelson/cacher/read/resource-view.js'
import { encodeContinue } from '#keelson/storage/contract/continue-token.js'
import { resolveListPosition } from '#keelson/storage/contract/list-revision.js'
import { FakeClock } from '../../support/fake-clock.js'
import { MemoryArena, MemoryClock } from '../../support/memory-arena.js'

const PREFIX = '/registry/pods/'
const list = (demand: Partial<Parameters<typeof resolveListPosition>[1]>) =>
  resolveListPosition(
    PREFIX,
    { resourceVersion: '', resourceVersionMatch: '', limit: 0, continueToken: '', recursive: true, ...demand },
    Number,
  )

function fixture(fence: true | Promise<boolean> = true) {
  const clock = new FakeClock()
  const revisionClock = new MemoryClock()
  const arena = new MemoryArena(revisionClock)
  revisionClock.advance(10)
  arena.setReady(true)
  let asked = 0
  const pass = (): true | Promise<boolean> => {
    asked++
    return fence
  }
  const view: ResourceView = {
    clock: revisionClock,
    fence: { pass },
    arena: () => arena,
    known: () => arena,
    fallen: () => false,
  }
  return { clock, revisionClock, arena, view, asked: () => asked }
}

t.test('a list reads the newest, exactly a revision, or one that is not older, as its client asks', async (t) => {
  t.match(list({}), { revision: 0, minimumRevision: 0, consistent: true, startKey: undefined })
  t.match(list({ resourceVersion: '0', limit: 5 }), { consistent: false, memoryLimit: 0 }, 'any is given whole')
  t.match(list({ resourceVersion: '7' }), { revision: 0, minimumRevision: 7, consistent: false })
  t.match(list({ resourceVersion: '7', limit: 5 }), { revision: 7, memoryLimit: 5, consistent: false })
  t.match(list({ resourceVersion: '7', resourceVersionMatch: 'NotOlderThan', limit: 5 }), { minimumRevision: 7 })
  t.match(list({ resourceVersion: '7', resourceVersionMatch: 'Exact' }), { revision: 7 })
  const token = (revision: number): string => encodeContinue(`${PREFIX}ns/a\0`, PREFIX, revision)
  t.match(list({ continueToken: token(9), limit: 2 }), { revision: 9, startKey: `${PREFIX}ns/a\0`, consistent: false })
  t.match(list({ continueToken: token(-1) }), { revision: 0, consistent: true }, 'a token for the newest')
  t.match(list({ continueToken: token(9), resourceVersion: '0', limit: 2 }), { memoryLimit: 2 }, 'a page is a page')
  t.throws(() => list({ continueToken: token(9), resourceVersion: '7' }), { code: 'invalid-request' })
})

t.test('a watch begins with the state, or after a revision, which may lie ahead', async (t) => {
  const watch = (resourceVersion: string, sendInitialEvents?: boolean) =>
    resolveWatch({ resourceVersion, sendInitialEvents }, Number)
  t.match(watch(''), { initialEvents: true, consistent: true, after: undefined })
  t.match(watch('0'), { initialEvents: true, consistent: false, minimumRevision: 0 })
  t.match(watch('7'), { initialEvents: false, consistent: false, minimumRevision: 0, after: 7 })
  t.match(watch('7', true), { initialEvents: true, minimumRevision: 7, after: undefined })
  t.match(watch('', true), { initialEvents: true, consistent: true })
  t.match(watch('', false), { initialEvents: false, consistent: true, after: undefined })
})

t.test('a GET that needs nothing waits for nothing and makes nothing', async (t) => {
  const f = fixture()
  t.equal(resolveGet('', Number), NEWEST)
  t.equal(resolveGet('0', Number), ANY)
  t.equal(arrive(f.view, NEWEST, f), true)
  t.equal(f.asked(), 1)
  t.equal(arrive(f.view, ANY, f), true)
  t.equal(arrive(f.view, resolveGet('10', Number), f), true)
  t.equal(f.asked(), 1, 'only a consistent read asks the fence')
})

t.test('what the fence cannot vouch for is not called consistent: the storage answers', async (t) => {
  const f = fixture(Promise.resolve(false))
  t.equal(await arrive(f.view, NEWEST, f), false)
})

t.test('a revision ahead of the clock is awaited, exact or not, and the stream is pushed', async (t) => {
  for (const position of [list({ resourceVersion: '11' }), list({ resourceVersion: '11', limit: 1 })]) {
    const f = fixture()
    const arrived = arrive(f.view, position, f)
    t.not(arrived, true)
    t.equal(f.asked(), 1, 'the revision may be of a key that nobody here watches')
    f.revisionClock.advance(11)
    t.equal(await arrived, true)
  }
})

t.test('a revision that does not come is too large, after three seconds', async (t) => {
  const f = fixture()
  const arrived = arrive(f.view, list({ resourceVersion: '99' }), f)
  await Promise.all([
    t.rejects(arrived as Promise<boolean>, { code: 'too-large', fields: { resourceVersion: 99, currentRevision: 10 } }),
    f.clock.advance(3_000),
  ])
})

t.test('a state that has left the window, or memory that has gone, is for the storage; no pin is left', async (t) => {
  const f = fixture()
  f.arena.forgetUpTo(5)
  t.equal(openSnapshot(f.arena, 3), undefined)
  t.equal(openSnapshot(undefined, 0), undefined)
  const snapshot = openSnapshot(f.arena, 7)
  t.equal(snapshot?.revision, 7)
  snapshot?.release()
  const taken = f.arena.snapshot.bind(f.arena)
  f.arena.snapshot = (revision) => {
    f.arena.setReady(false)
    return taken(revision)
  }
  t.equal(openSnapshot(f.arena, 0), undefined, 'it was being filled anew while it was taken')
  t.equal(f.arena.pins, 0)
})

import t from 'tap'
import { parseListOptions } from '#keelson/api/list-options.js'
import { parseSelectors } from '#keelson/api/selectors.js'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import { EventFeed, type FeedOutcome } from '#keelson/cacher/read/follow.js'
import { keyRange } from '#keelson/cacher/read/key-range.js'
import { draft } from '../memory/draft.js'

const ROOT = '/registry/pods/'
const selectors = (labelSelector = '') =>
  parseSelectors(parseListOptions(new URLSearchParams({ labelSelector }), true), [])

function fixture() {
  const owner = new MemoryOwner()
  const writer = owner.createArena('pods', {})
  const arena = owner.localReader().arena('pods')!
  writer.setReady(true)
  const publish = (revision: number): void => {
    writer.publish(revision)
    owner.clock.advance(revision)
  }
  const put = (name: string, revision: number, app = 'x'): void =>
    writer.put(`${ROOT}${name}`, draft(name, { labels: ['app', app] }), revision, revision)
  const feed = (revision: number, options: { initialEvents?: boolean; label?: string } = {}) =>
    new EventFeed({
      arena,
      range: keyRange(ROOT, true),
      selectors: selectors(options.label),
      revision,
      initialEvents: options.initialEvents ?? false,
    })
  return { owner, writer, arena, publish, put, feed }
}

function read(feed: EventFeed, most = Number.POSITIVE_INFINITY): { seen: string[]; outcome: FeedOutcome } {
  const seen: string[] = []
  const outcome = feed.advance((type, record, revision) => {
    seen.push(`${type} ${record.key.slice(ROOT.length)}@${revision}`)
    return seen.length < most
  })
  return { seen, outcome }
}

t.test('a feed that stops within a revision goes on within it, and so does a fork of its place', async (t) => {
  const f = fixture()
  for (const name of ['a', 'b', 'c', 'd']) f.put(name, 1)
  f.publish(1)
  const feed = f.feed(1)
  for (const name of ['a', 'b', 'c', 'd']) f.writer.delete(`${ROOT}${name}`, 2)
  f.publish(2)
  t.same(read(feed, 2), { seen: ['DELETED a@2', 'DELETED b@2'], outcome: 'more' })
  t.equal(feed.revision, 1, 'not all of 2 has been seen')
  t.notOk(feed.whole)
  const cursor = f.arena.cursor(1)
  let visited = 0
  cursor.advance(() => ++visited < 3)
  t.same([cursor.revision, cursor.begun], [1, 2])
  const other = f.feed(1)
  other.resumeAt(cursor.fork())
  t.same(read(other).seen, ['DELETED d@2'])
  t.same(read(feed).seen, ['DELETED c@2', 'DELETED d@2'])
  t.ok(feed.whole)
  t.equal(feed.revision, 2)
})

t.test('a feed from a revision that is not there yet never passes the clock and is silent up to it', async (t) => {
  const f = fixture()
  f.put('a', 1)
  f.publish(1)
  const feed = f.feed(5)
  t.equal(f.arena.cursor(5).revision, 1)
  t.same(read(feed), { seen: [], outcome: 'current' })
  t.equal(feed.revision, 1)
  t.equal(feed.seenRevision, 5, 'nothing up to there is for it')
  f.put('b', 4)
  f.publish(4)
  f.put('c', 6)
  f.publish(6)
  t.same(read(feed).seen, ['ADDED c@6'])
  t.equal(feed.seenRevision, 6)
})

t.test('the state comes first, in pieces that hold no pin, then what happened since', async (t) => {
  const f = fixture()
  for (const [i, name] of ['a', 'b', 'c'].entries()) f.put(name, i + 1)
  f.publish(3)
  const feed = f.feed(3, { initialEvents: true })
  t.same(read(feed, 2), { seen: ['ADDED a@1', 'ADDED b@2'], outcome: 'more' })
  t.equal(f.arena.pins(), 0)
  f.put('aa', 4)
  f.publish(4)
  t.notOk(feed.live)
  t.same(read(feed).seen, ['ADDED c@3'])
  t.ok(feed.live)
  t.same(read(feed).seen, ['ADDED aa@4'])
})

t.test('selectors see objects enter and leave', async (t) => {
  const f = fixture()
  f.put('a', 1)
  f.publish(1)
  const feed = f.feed(1, { label: 'app=x' })
  f.put('a', 2, 'y')
  f.publish(2)
  f.put('b', 3, 'y')
  f.publish(3)
  f.put('a', 4)
  f.publish(4)
  t.same(read(feed).seen, ['DELETED a@2', 'ADDED a@4'])
})

t.test('memory that is not kept up any more ends a feed', async (t) => {
  const f = fixture()
  f.put('a', 1)
  f.publish(1)
  const feed = f.feed(1)
  f.writer.setReady(false)
  t.equal(read(feed).outcome, 'ended')
})

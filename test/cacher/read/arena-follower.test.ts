import t from 'tap'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import { ArenaFollower } from '#keelson/cacher/read/arena-follower.js'
import { draft } from '../memory/draft.js'

function setUp(options = {}) {
  const owner = new MemoryOwner()
  const reader = owner.localReader()
  const seen = new Map<string, number>()
  const calls: string[] = []
  const follower = new ArenaFollower(
    {
      clock: reader.clock,
      known: () => {
        const arena = reader.arena('pods')?.known()
        return arena?.ready() === true ? arena : undefined
      },
    },
    {
      reset: () => {
        calls.push('reset')
        seen.clear()
      },
      put: (record) => {
        calls.push(`put ${record.key}`)
        seen.set(record.key, record.modRevision)
      },
      delete: (record) => {
        calls.push(`delete ${record.key}`)
        seen.delete(record.key)
      },
    },
    (stale) => calls.push(stale ? 'stale' : 'up to date'),
  )
  const writer = owner.createArena('pods', options)
  const apply = (revision: number, change: () => void) => {
    change()
    writer.publish(revision)
    owner.clock.advance(revision)
  }
  const taken = () => calls.splice(0)
  return { owner, writer, reader, follower, seen, apply, taken }
}

t.test('first everything, then what changes, then nothing', async (t) => {
  const { writer, follower, seen, apply, taken } = setUp()
  t.equal(follower.sync(), false, 'not ready: nothing is known')
  t.same(taken(), [])
  writer.setReady(true)
  apply(1, () => writer.put('a', draft('a'), 1, 1))
  apply(2, () => writer.put('b', draft('b'), 2, 2))
  t.equal(follower.sync(), true)
  t.same(taken(), ['reset', 'put a', 'put b'])
  t.equal(follower.sync(), true)
  t.same(taken(), [], 'nothing happened')
  apply(3, () => writer.put('a', draft('a'), 3, 1))
  apply(4, () => writer.delete('b', 4))
  follower.sync()
  t.same(taken(), ['put a', 'delete b'])
  t.same([...seen], [['a', 3]])
})

t.test('what is published but not yet at the clock is not taken in', async (t) => {
  const { owner, writer, follower, seen } = setUp()
  writer.setReady(true)
  writer.put('a', draft('a'), 1, 1)
  writer.publish(1)
  owner.clock.advance(1)
  follower.sync()
  writer.put('a', draft('a'), 2, 1)
  writer.publish(2)
  follower.sync()
  t.same([...seen], [['a', 1]])
  owner.clock.advance(2)
  follower.sync()
  t.same([...seen], [['a', 2]])
})

t.test('when the ring has passed it, it begins again', async (t) => {
  const { writer, follower, seen, apply, taken } = setUp()
  writer.setReady(true)
  apply(1, () => writer.put('a', draft('a'), 1, 1))
  follower.sync()
  taken()
  apply(5, () => writer.replace([{ key: 'b', draft: draft('b'), modRevision: 5, createRevision: 5 }], 5))
  t.equal(follower.sync(), true)
  t.same(taken(), ['reset', 'put b'])
  t.same([...seen.keys()], ['b'])
})

t.test(
  'an arena that is dropped leaves what was last known, said once; one that comes again is read again',
  async (t) => {
    const { owner, writer, follower, seen, apply, taken } = setUp()
    writer.setReady(true)
    apply(1, () => writer.put('a', draft('a'), 1, 1))
    follower.sync()
    taken()
    writer.setReady(false)
    t.equal(follower.sync(), true)
    t.same([...seen.keys()], ['a'], 'it stays')
    t.same(taken(), ['stale'])
    writer.close()
    t.equal(follower.sync(), true)
    t.same(taken(), [], 'said once')
    const again = owner.createArena('pods', {})
    again.setReady(true)
    again.put('c', draft('c'), 2, 2)
    again.publish(2)
    owner.clock.advance(2)
    t.equal(follower.sync(), true)
    t.same([...seen.keys()], ['c'])
    t.same(taken(), ['reset', 'put c', 'up to date'])
  },
)

t.test('an arena that is filled again in place is followed again, with what came meanwhile', async (t) => {
  const { writer, follower, seen, apply, taken } = setUp()
  writer.setReady(true)
  apply(1, () => writer.put('a', draft('a'), 1, 1))
  follower.sync()
  writer.setReady(false)
  apply(5, () => writer.replace([{ key: 'b', draft: draft('b'), modRevision: 5, createRevision: 5 }], 5))
  t.equal(follower.sync(), true)
  t.same([...seen.keys()], ['a'], 'what is being filled is not read')
  writer.setReady(true)
  follower.sync()
  t.same([...seen.keys()], ['b'])
  t.same(taken().slice(-3), ['reset', 'put b', 'up to date'])
})

t.test(
  'memory that lacks unreadable objects is followed, and is closed for good to whoever serves clients',
  async (t) => {
    const { reader, writer, follower, seen, apply, taken } = setUp()
    writer.setReady(true)
    apply(1, () => writer.put('a', draft('a'), 1, 1))
    follower.sync()
    taken()
    const served = reader.arena('pods')!
    const cursor = served.cursor(1)
    writer.setPartial()
    apply(2, () => writer.put('b', draft('b'), 2, 2))
    t.notOk(served.ready())
    t.ok(served.closed())
    t.throws(() => served.snapshot(), { code: 'not-ready' })
    t.equal(
      cursor.advance(() => true),
      'expired',
      'a watch ends rather than miss an event',
    )
    t.equal(follower.sync(), true)
    t.same(taken(), ['put b'], 'no fill, no warning')
    t.same([...seen.keys()], ['a', 'b'])
    t.throws(() => writer.setReady(true), /not served to clients again/)
  },
)

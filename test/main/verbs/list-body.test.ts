import t from 'tap'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import { openSnapshot } from '#keelson/cacher/read/resolve.js'
import { CopyBudget } from '#keelson/main/verbs/copy-budget.js'
import { ListBody, MARK_INTERVAL } from '#keelson/main/verbs/list-body.js'
import { draft } from '../../cacher/memory/draft.js'
import { Random } from '../../support/fuzz.js'

const OBJECTS = 300
const HEAD = Buffer.from('{"items":[')
const SKIPPED = '{"metadata":'.length - 1
const NO_COPIES = new CopyBudget(0)
const odd = (key: string): boolean => Number(key) % 2 === 1
const keyOf = (i: number): string => String(10_000 + i)

/** A list of every other object, over real shared memory. */
function setUp({ windowBytes = 1 << 26 } = {}) {
  const owner = new MemoryOwner()
  const writer = owner.createArena('pods', { windowBytes, minEvents: 4, maxEvents: 4096 })
  const arena = owner.localReader().arena('pods')!
  writer.setReady(true)
  let revision = 0
  const put = (key: string, bytes: number): void => {
    revision++
    writer.put(key, draft(key, { filler: 'x'.repeat(bytes) }), revision, revision)
    writer.publish(revision)
    owner.clock.advance(revision)
  }
  // Some larger than a piece.
  for (let i = 0; i < OBJECTS; i++) put(keyOf(i), i % 50 === 1 ? 150_000 : i * 7)
  /** What it should be is put together only where it is looked at. */
  const list = (skipped: number, expects = true): { body: ListBody; expected: string } => {
    const snapshot = arena.snapshot()
    const at = snapshot.revision
    const bodies: Uint8Array[] = []
    const marks: string[] = []
    snapshot.scan('', '', (record) => {
      if (!odd(record.key)) return
      if (bodies.length % MARK_INTERVAL === 0) marks.push(record.key)
      bodies.push(record.body())
    })
    const shown = (expects ? bodies : []).map((one) => {
      const text = Buffer.from(one).toString()
      return skipped === 0 ? text : `{${text.slice(skipped + 1)}`
    })
    const body = new ListBody({
      head: HEAD,
      bodies,
      skip: () => skipped,
      state: {
        release: () => snapshot.release(),
        marks,
        reopen: (startKey, visit) => {
          const again = openSnapshot(arena, at)
          again?.scan(startKey, '', (record) => !odd(record.key) || visit(record))
          again?.release()
          return again !== undefined
        },
      },
    })
    return { body, expected: `${HEAD}${shown.join(',')}]}\n` }
  }
  return { arena, writer, put, list }
}

function read(body: ListBody, pieces = Number.POSITIVE_INFINITY): string {
  let text = ''
  for (let i = 0; i < pieces; i++) {
    const piece = body.next()
    if (piece === undefined) break
    text += Buffer.from(piece)
  }
  return text
}

t.test('a list is the same however it is read on', async (t) => {
  const random = new Random(7)
  const { arena, list, put } = setUp()
  for (let i = 0; i < 40; i++) {
    const { body, expected } = list(i % 2 === 0 ? SKIPPED : 0)
    t.equal(body.totalBytes, expected.length)
    const budget = i % 3 === 0 ? new CopyBudget() : NO_COPIES
    let text = read(body, random.below(12))
    const outcome = body.unpin(budget)
    t.equal(arena.pins(), 0, 'nothing is pinned any more')
    put(keyOf(random.below(OBJECTS)), 40)
    put(`${keyOf(random.below(OBJECTS))}-between`, 40)
    t.match(outcome, i % 3 === 0 ? 'copied' : 'reopened')
    text += read(body)
    t.ok(text === expected, `the same bytes when it is ${outcome}`)
    body.finish()
    t.equal(budget.usedBytes, 0, 'what was taken is given back')
  }
})

t.test('the pin goes with the last piece that is made, not with the last that is taken', async (t) => {
  const { arena, list } = setUp()
  const { body, expected } = list(SKIPPED)
  t.equal(arena.pins(), 1)
  let text = ''
  while (!body.made) text += Buffer.from(body.next()!)
  t.equal(arena.pins(), 0)
  t.equal(body.unpin(new CopyBudget()), undefined, 'there is none to give up')
  t.ok(text === expected)
  body.finish()
})

t.test('what is not read to its end gives back its pin or its copies', async (t) => {
  const { arena, list } = setUp()
  const pinned = list(0).body
  read(pinned, 2)
  pinned.finish()
  pinned.finish()
  t.equal(arena.pins(), 0)
  const budget = new CopyBudget()
  const copied = list(0).body
  read(copied, 1)
  copied.unpin(budget)
  t.ok(budget.usedBytes > 0)
  read(copied, 2)
  copied.finish()
  t.equal(budget.usedBytes, 0)
})

t.test('a thousand that are read slowly share the bytes that are copied, and pin nothing', async (t) => {
  const { arena, list, put, writer } = setUp({ windowBytes: 1 << 20 })
  const budget = new CopyBudget(4 << 20, 1 << 20)
  const outcomes = { copied: 0, reopened: 0 }
  for (let i = 0; i < 1000; i++) {
    const { body } = list(0, false)
    body.next()
    outcomes[body.unpin(budget)!]++
  }
  t.ok(budget.usedBytes <= 4 << 20)
  t.ok(outcomes.copied > 0 && outcomes.reopened > 900)
  t.equal(arena.pins(), 0)
  for (let i = 0; i < 100; i++) put(keyOf(1), 150_000)
  t.equal(writer.memory().pinnedBytes, 0)
})

t.test('a list whose state has left the window is lost, one that was copied is not', async (t) => {
  const { list, put } = setUp({ windowBytes: 1 << 20 })
  const [lost, kept] = [list(SKIPPED), list(SKIPPED)]
  const begun = [read(lost.body, 1), read(kept.body, 1)]
  lost.body.unpin(NO_COPIES)
  kept.body.unpin(new CopyBudget())
  for (let i = 0; i < 20; i++) put(keyOf(1), 150_000)
  t.ok(begun[1] + read(kept.body) === kept.expected)
  const rest = read(lost.body)
  t.ok(begun[0]!.length + rest.length < lost.body.totalBytes, 'it ends early')
  t.ok(lost.expected.startsWith(begun[0] + rest), 'and nothing in it is of another state')
})

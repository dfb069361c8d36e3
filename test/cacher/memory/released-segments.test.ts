import { readFileSync } from 'node:fs'
import t from 'tap'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import { MemoryReader } from '#keelson/cacher/memory/memory-reader.js'
import { ReleasedSegments } from '#keelson/cacher/memory/released-segments.js'
import { collectGarbage } from '#keelson/lib/collect-garbage.js'
import { until } from '../../support/until.js'
import { draft } from './draft.js'

const MIB = 1024 * 1024
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const turns = async (): Promise<void> => {
  for (let i = 0; i < 4; i++) await turn()
}

t.test('a collection comes when enough waits for it, in a turn of its own, and is not asked for twice', async (t) => {
  let collections = 0
  const released = new ReleasedSegments(() => collections++)
  const kept = Array.from({ length: 10 }, () => new SharedArrayBuffer(8 * MIB))
  for (const buffer of kept.slice(0, 3)) released.add(buffer)
  await turns()
  t.equal(collections, 0, '24 MiB may wait')
  for (const buffer of kept.slice(3, 6)) released.add(buffer)
  t.equal(collections, 0, 'who lets go of segments is not held up')
  await turns()
  t.equal(collections, 1)
  for (const buffer of kept.slice(6, 9)) released.add(buffer)
  await turns()
  t.equal(collections, 1, 'what is read in spite of it is not collected for again and again')
  released.add(kept[9]!)
  await turns()
  t.equal(collections, 2)
})

t.test('what V8 has collected by itself does not wait', async (t) => {
  let collections = 0
  const released = new ReleasedSegments(() => collections++)
  for (let round = 0; round < 6; round++) {
    for (let i = 0; i < 3; i++) released.add(new SharedArrayBuffer(8 * MIB))
    // A stack that still names the last buffer is gone in the next turn.
    await turns()
    collectGarbage()
    await turns()
  }
  t.equal(collections, 0)
})

const residentBytes = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024

t.test(
  'a thread that does nothing else frees what it has let go of',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const owner = new MemoryOwner()
    t.teardown(() => owner.close())
    const idle = MemoryReader.open(owner.connect())
    idle.start()
    const writer = owner.createArena('pods', { windowBytes: MIB, minEvents: 4, maxEvents: 4 })
    writer.setReady(true)
    const object = draft('k', { filler: 'x'.repeat(4 * MIB) })
    let revision = 0
    const before = residentBytes()
    let most = 0
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 8; i++) {
        writer.put(`k${i}`, object, ++revision, revision)
        writer.publish(revision)
      }
      writer.replace([], ++revision)
      writer.publish(revision)
      owner.clock.advance(revision)
      await until(() => idle.heldBytes() === writer.memory().segmentBytes, {
        what: 'the idle thread to have what there is',
      })
      await turns()
      most = Math.max(most, residentBytes())
    }
    const grown = Math.round((most - before) / MIB)
    t.comment(`${grown} MiB`)
    t.ok(grown < 300, `640 MiB went through memory, ${grown} MiB were held at most`)
  },
)

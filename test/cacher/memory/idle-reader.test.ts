import t from 'tap'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import { MemoryReader } from '#keelson/cacher/memory/memory-reader.js'
import { until } from '../../support/until.js'
import { draft } from './draft.js'

const OBJECTS = 40
const LARGE = 'x'.repeat(500_000)

t.test('a thread that reads nothing lets go of what the owner has freed', async (t) => {
  const owner = new MemoryOwner()
  t.teardown(() => owner.close())
  const idle = MemoryReader.open(owner.connect())
  const local = owner.localReader()
  for (const reader of [idle, local]) reader.start()
  const writer = owner.createArena('pods', { windowBytes: 1 << 20, minEvents: 4, maxEvents: 4 })
  writer.setReady(true)
  let revision = 0
  const apply = (change: () => void): void => {
    change()
    writer.publish(revision)
    owner.clock.advance(revision)
  }
  const held = async (): Promise<number> => {
    await until(() => idle.heldBytes() === writer.memory().segmentBytes, { what: 'the idle thread has what there is' })
    t.equal(local.heldBytes(), writer.memory().segmentBytes, 'so has a reader in the thread of the owner')
    return idle.heldBytes()
  }
  const empty = await held()
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < OBJECTS; i++)
      apply(() => writer.put(`k${i}`, draft(`k${i}`, { filler: LARGE }), ++revision, revision))
    t.ok((await held()) > OBJECTS * LARGE.length)
    apply(() => writer.replace([], ++revision))
    t.ok((await held()) < empty + 4 * 1024 * 1024, 'nothing of it is kept')
  }
  writer.close()
  await until(() => idle.heldBytes() === 0, { what: 'an idle reader to let go of its segments' })
  t.equal(local.heldBytes(), 0, 'nor of an arena that is closed')
})

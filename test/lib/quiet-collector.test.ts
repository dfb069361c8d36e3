import t from 'tap'
import { QuietCollector } from '#keelson/lib/quiet-collector.js'

const MIB = 1024 * 1024

t.test('a thread that has gone quiet collects twice for what it has grown', async (t) => {
  let taken = 40 * MIB
  let collections = 0
  const collector = new QuietCollector(
    () => taken,
    () => {
      collections++
      taken = 20 * MIB
    },
  )
  collector.look(0.5)
  t.equal(collections, 0, 'a busy thread is left alone')
  collector.look(0.01)
  t.equal(collections, 0, 'a moment without requests is no rest')
  collector.look(0.01)
  t.equal(collections, 1)
  collector.look(0.5)
  t.equal(collections, 1)
  collector.look(0.01)
  collector.look(0.01)
  t.equal(collections, 2)
  taken = 27 * MIB
  collector.look(0.01)
  t.equal(collections, 2, 'what little a quiet thread makes is left to V8')
  taken = 90 * MIB
  collector.look(0.9)
  t.equal(collections, 2)
  collector.look(0)
  collector.look(0)
  t.equal(collections, 3, 'after a burst it collects again')
})

t.test('what a collection cannot take is not collected for again', async (t) => {
  let collections = 0
  const collector = new QuietCollector(
    () => 100 * MIB,
    () => collections++,
  )
  for (let look = 0; look < 5; look++) collector.look(0)
  t.equal(collections, 2)
})

import t from 'tap'
import { QuietCollector } from '#keelson/lib/quiet-collector.js'

const MIB = 1024 * 1024

t.test('a thread that has gone quiet collects twice for what it has grown', async (t) => {
  let usedBytes = 30 * MIB
  let takenBytes = 40 * MIB
  let collections = 0
  const collector = new QuietCollector(
    () => ({ usedBytes, takenBytes }),
    () => {
      collections++
      usedBytes = 15 * MIB
      takenBytes = 20 * MIB
    },
  )
  const look = (madeBytes: number): void => {
    usedBytes += madeBytes
    collector.look()
  }
  const rest = (seconds: number): void => {
    for (let second = 0; second < seconds; second++) look(1000)
  }
  look(10 * MIB)
  rest(5)
  t.equal(collections, 0, 'a thread that has made much is left alone until V8 has seen that it makes little')
  look(2 * MIB)
  rest(5)
  t.equal(collections, 0)
  rest(1)
  t.equal(collections, 1)
  rest(4)
  t.equal(collections, 2, 'and once more')
  takenBytes = 27 * MIB
  rest(20)
  t.equal(collections, 2, 'what little a quiet thread makes is left to V8')
  takenBytes = 90 * MIB
  for (let second = 0; second < 20; second++) look(second % 3 === 0 ? -9 * MIB : 3 * MIB)
  t.equal(collections, 2, 'under a light load, which V8 collects for, it does not')
  rest(6)
  t.equal(collections, 3, 'after a burst it collects again')
})

t.test('what a collection cannot take is not collected for again', async (t) => {
  let collections = 0
  const collector = new QuietCollector(
    () => ({ usedBytes: 80 * MIB, takenBytes: 100 * MIB }),
    () => collections++,
  )
  for (let look = 0; look < 30; look++) collector.look()
  t.equal(collections, 2)
})

t.test(
  'under a light load that never ends a thread collects when nobody did for two minutes and it has grown',
  async (t) => {
    let usedBytes = 20 * MIB
    let liveBytes = 20 * MIB
    let collections = 0
    const collector = new QuietCollector(
      () => ({ usedBytes, takenBytes: usedBytes + 5 * MIB }),
      () => {
        collections++
        usedBytes = liveBytes
      },
    )
    const work = (seconds: number): void => {
      for (let second = 0; second < seconds; second++) {
        usedBytes += MIB
        collector.look()
      }
    }
    work(119)
    t.equal(collections, 0)
    work(1)
    t.equal(collections, 1)
    work(100)
    collector.collected()
    work(100)
    t.equal(collections, 1, 'V8 has collected meanwhile')
    liveBytes = 100 * MIB
    work(20)
    t.equal(collections, 2)
    work(400)
    t.equal(collections, 2, 'where much lives a collection would take long')
  },
)

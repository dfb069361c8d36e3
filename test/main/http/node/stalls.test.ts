import t from 'tap'
import { STALL_MS, Stalls } from '#keelson/main/http/node/stalls.js'
import { FakeClock } from '../../../support/fake-clock.js'

t.test('who waits without progress is given up, and nobody else', async (t) => {
  const clock = new FakeClock()
  const stalls = new Stalls(clock)
  const given: string[] = []
  const waiting = (name: string) => ({ giveUp: () => void given.push(name) })
  const [still, touched, over, never] = ['still', 'touched', 'over', 'never'].map(waiting)
  for (const one of [still!, touched!, over!]) stalls.wait(one)
  stalls.touch(never!)
  await clock.advance(STALL_MS / 2)
  stalls.touch(touched!)
  stalls.over(over!)
  await clock.advance(STALL_MS / 2 + 2000)
  t.same(given, ['still'])
  await clock.advance(STALL_MS)
  t.same(given, ['still', 'touched'])
  t.equal(clock.pendingTimers, 0, 'nobody looks when nobody waits')
  stalls.wait(still!)
  stalls.stop()
  t.equal(clock.pendingTimers, 0)
})

import t from 'tap'
import { systemClock } from '#keelson/lib/clock.js'

t.test('a delay longer than setTimeout takes does not fire at once', async (t) => {
  let fired = false
  const timer = systemClock.after(30 * 24 * 3_600_000, () => {
    fired = true
  })
  t.teardown(() => timer.cancel())
  const warnings: string[] = []
  const onWarning = (warning: Error): void => void warnings.push(warning.name)
  process.on('warning', onWarning)
  t.teardown(() => process.off('warning', onWarning))
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(fired, false)
  t.same(warnings, [], 'Node has nothing to say about it either')
})

t.test('a short delay fires, and a cancelled one does not', async (t) => {
  let cancelled = false
  systemClock
    .after(1, () => {
      cancelled = true
    })
    .cancel()
  // A timer of the clock keeps no process alive; this one does.
  const alive = setTimeout(() => undefined, 60_000)
  await new Promise<void>((resolve) => void systemClock.after(2, resolve))
  clearTimeout(alive)
  t.equal(cancelled, false)
})

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { systemClock } from '#keelson/lib/clock.js'
import { Collector } from '#keelson/metrics/collector.js'
import { FAMILIES, processFamilies } from '#keelson/metrics/families.js'
import { Recorder } from '#keelson/metrics/recorder.js'
import { ThreadProbe } from '#keelson/metrics/thread-probe.js'
import { until } from '../support/until.js'

/** Collects the whole heap of this thread. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}

t.test('collections of garbage are counted by thread and kind, with their time, until the probe stops', async (t) => {
  const { threadGcRuns, threadGcSeconds } = processFamilies
  const collector = new Collector(FAMILIES)
  const recorder = new Recorder((page) => collector.addPage(1, page))
  const probe = new ThreadProbe('looked-at', recorder, systemClock)
  t.teardown(() => probe.stop())
  const of = (family: typeof threadGcRuns): number =>
    (collector.collect().get(family) ?? []).find(({ labels }) => labels.join() === 'looked-at,major')?.cells[0] ?? 0
  probe.start()
  t.equal(of(threadGcRuns), 0, 'what was collected before is not counted')
  collectGarbage()
  await until(() => of(threadGcRuns) > 0, { what: 'a collection that is counted' })
  t.ok(of(threadGcSeconds) > 0)
  t.ok(of(threadGcSeconds) < 60, 'seconds, not milliseconds')
  probe.stop()
  const counted = of(threadGcRuns)
  collectGarbage()
  await new Promise(setImmediate)
  t.equal(of(threadGcRuns), counted)
})

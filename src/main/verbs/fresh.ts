/** Thread: main. Waiting until memory is as new as a read demands. */
import { newTimeout, type StatusError } from '../../api/status.js'
import type { ReadContext } from './read-context.js'
import type { ListSeries } from './read-metrics.js'

/** As long as Kubernetes waits for a revision that a client has seen elsewhere. */
const FRESH_TIMEOUT_MS = 3000

/** Whether memory has everything that was acknowledged; no promise when that is known. */
export function passed({ cache, clock }: ReadContext, series: ListSeries): boolean | Promise<boolean> {
  const fence = cache.fence()
  if (fence === true) {
    series.waited(0)
    series.consistent(true)
    return true
  }
  const startedMs = clock.monotonicMs()
  return fence.then((inTime) => {
    series.waited(clock.monotonicMs() - startedMs)
    series.consistent(inTime)
    return inTime
  })
}

/** Resolves at or after `revision`; throws what a client is told when that does not happen. */
export async function waitUntilFresh(context: ReadContext, revision: number, series: ListSeries): Promise<void> {
  const { clock } = context.cache
  if (clock.revision() >= revision) {
    series.waited(0)
    return
  }
  const startedMs = context.clock.monotonicMs()
  const abort = new AbortController()
  const timer = context.clock.after(FRESH_TIMEOUT_MS, () => abort.abort())
  try {
    await clock.reached(revision, abort.signal)
  } catch (error) {
    if (!abort.signal.aborted) throw error
    throw tooLarge(revision, clock.revision())
  } finally {
    timer.cancel()
    series.waited(context.clock.monotonicMs() - startedMs)
  }
}

export function tooLarge(revision: number, current: number): StatusError {
  return newTimeout(`Too large resource version: ${BigInt(revision)}, current: ${current}`, 1, [
    { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
  ])
}

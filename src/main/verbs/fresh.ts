/** Thread: main. Waiting until memory is as new as a read demands. */
import { newTimeout, type StatusError } from '../../api/status.js'
import type { ReadContext } from '../read-context.js'

/** As long as Kubernetes waits for a revision that a client has seen elsewhere. */
const FRESH_TIMEOUT_MS = 3000

/** Resolves at or after `revision`; throws what a client is told when that does not happen. */
export async function waitUntilFresh(context: ReadContext, revision: number): Promise<void> {
  const { clock } = context.cache
  if (clock.revision() >= revision) return
  const abort = new AbortController()
  const timer = context.clock.after(FRESH_TIMEOUT_MS, () => abort.abort())
  try {
    await clock.reached(revision, abort.signal)
  } catch (error) {
    if (!abort.signal.aborted) throw error
    throw tooLarge(revision, clock.revision())
  } finally {
    timer.cancel()
  }
}

export function tooLarge(revision: number, current: number): StatusError {
  return newTimeout(`Too large resource version: ${BigInt(revision)}, current: ${current}`, 1, [
    { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
  ])
}

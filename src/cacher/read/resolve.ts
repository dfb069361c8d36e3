/**
 * Thread: any. The first verb of the read engine: where a read is answered from. The position that a list's table
 * (storage/contract/list-revision.ts) or a watch's (below) gives is held against the resource's view:
 *
 * | position            | memory answers                  | else                                     |
 * | ------------------- | ------------------------------- | ---------------------------------------- |
 * | consistent          | once the fence is passed        | the storage, when that takes too long    |
 * | exactly V           | once the clock has reached V, and while V is in the window | before: `too-large` at the limit; after: the storage |
 * | not older than V    | once the clock has reached V    | `too-large` at the limit                 |
 * | any                 | as it is                        |                                          |
 */
import type { CancelSignal } from '../../lib/cancellation.js'
import type { Clock } from '../../lib/clock.js'
import { isStorageError } from '../../storage/contract/errors.js'
import { type ReadPosition, tooLargeResourceVersion } from '../../storage/contract/list-revision.js'
import type { ArenaReader, Snapshot } from '../memory/shared-memory.js'
import type { ResourceView } from './resource-view.js'

/** Kubernetes waits as long for its watch cache to become fresh, and then tells clients the same. */
const FRESH_LIMIT_MS = 3_000
const RETRY_AFTER_SECONDS = 1

export const NEWEST: ReadPosition = { revision: 0, minimumRevision: 0, consistent: true }
export const ANY: ReadPosition = { revision: 0, minimumRevision: 0, consistent: false }

/** Is told how reads fared; the series of metrics are one. */
export interface ReadObserver {
  waited(durationMs: number): void
  /** Counts a read that had to see everything acknowledged: memory had it in time, or the storage is asked. */
  consistent(fromMemory: boolean): void
}

export interface WaitOptions {
  readonly clock: Clock
  readonly signal?: CancelSignal | undefined
  readonly observer?: ReadObserver | undefined
}

/** The position of a GET; `parse` reads a resourceVersion, as for a list. */
export function resolveGet(resourceVersion: string, parse: (resourceVersion: string) => number): ReadPosition {
  if (resourceVersion === '') return NEWEST
  const minimumRevision = parse(resourceVersion)
  return minimumRevision === 0 ? ANY : { revision: 0, minimumRevision, consistent: false }
}

/**
 * True, at once or later, when memory is where the position wants it; false when the storage must answer. Rejects with
 * `too-large` when the clock does not reach a revision in time. There is a promise only when there is something to wait
 * for.
 */
export function arrive(view: ResourceView, position: ReadPosition, wait: WaitOptions): true | Promise<boolean> {
  if (position.consistent) return passFence(view, wait)
  const revision = Math.max(position.revision, position.minimumRevision)
  if (revision === 0) return true
  if (view.clock.revision() < revision) return waitFor(view, revision, wait)
  wait.observer?.waited(0)
  return true
}

function passFence(view: ResourceView, { clock, observer }: WaitOptions): true | Promise<boolean> {
  const fence = view.fence.pass()
  if (observer === undefined) return fence
  if (fence === true) {
    observer.waited(0)
    observer.consistent(true)
    return true
  }
  const startedMs = clock.monotonicMs()
  return fence.then((passed) => {
    observer.waited(clock.monotonicMs() - startedMs)
    observer.consistent(passed)
    return passed
  })
}

async function waitFor(view: ResourceView, revision: number, wait: WaitOptions): Promise<true> {
  const { clock, signal, observer } = wait
  // The revision may have been written outside the watched prefix (somebody else's key): the fence makes the stream
  // move on.
  void view.fence.pass()
  const limit = new AbortController()
  const end = (): void => limit.abort()
  const startedMs = clock.monotonicMs()
  const timer = clock.after(FRESH_LIMIT_MS, end)
  signal?.addEventListener('abort', end)
  try {
    await view.clock.reached(revision, limit.signal)
  } catch (error) {
    // The limit and the caller end the wait; any other failure is passed on.
    if (!limit.signal.aborted) throw error
    const current = view.clock.revision()
    if (current < revision) throw tooLargeResourceVersion(revision, current, RETRY_AFTER_SECONDS)
  } finally {
    timer.cancel()
    signal?.removeEventListener('abort', end)
    observer?.waited(clock.monotonicMs() - startedMs)
  }
  return true
}

/**
 * The state of the arena at the position; undefined when the state has left the window or the arena has gone, and the
 * storage must answer. A snapshot counts only if its arena is still ready after it was taken
 * (ResourceRegistration.createArena says why).
 */
export function openSnapshot(arena: ArenaReader | undefined, revision: number): Snapshot | undefined {
  if (arena === undefined) return undefined
  let snapshot: Snapshot
  try {
    snapshot = revision === 0 ? arena.snapshot() : arena.snapshot(revision)
  } catch (error) {
    if (isStorageError(error, 'too-old') || isStorageError(error, 'not-ready')) return undefined
    throw error
  }
  if (arena.ready()) return snapshot
  snapshot.release()
  return undefined
}

/** Where a watch begins, and with what. */
export interface WatchPosition extends ReadPosition {
  /** Whether the watch begins with what exists. */
  readonly initialEvents: boolean
  /** The watch gives the events after this revision; undefined when it begins with a state, or with now. */
  readonly after: number | undefined
}

/**
 * | sendInitialEvents | resourceVersion | begins with                    | memory must be        |
 * | ----------------- | --------------- | ------------------------------ | --------------------- |
 * | unset             | ''              | what exists                    | consistent            |
 * | unset             | 0               | what exists                    | as it is              |
 * | unset or false    | V               | events after V                 | as it is: what is not there yet is awaited |
 * | true              | '', 0 or V      | what exists                    | consistent, as it is, or not older than V |
 * | false             | '' or 0         | events after now               | consistent, or as it is |
 */
export function resolveWatch(
  demand: { readonly resourceVersion: string; readonly sendInitialEvents?: boolean | undefined },
  parse: (resourceVersion: string) => number,
): WatchPosition {
  const { resourceVersion, sendInitialEvents } = demand
  const asked = parse(resourceVersion)
  const initialEvents = sendInitialEvents ?? asked === 0
  return {
    revision: 0,
    minimumRevision: initialEvents ? asked : 0,
    consistent: resourceVersion === '',
    initialEvents,
    after: initialEvents || asked === 0 ? undefined : asked,
  }
}

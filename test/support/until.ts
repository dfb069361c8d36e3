import { setTimeout as sleep } from 'node:timers/promises'

/** What a test waits for comes well within this on an idle machine; a busy one may need most of it. */
const DEADLINE_MS = 60_000

export interface Wait {
  readonly what: string
  readonly deadlineMs?: number
  /** More where looking costs the process that is waited for. */
  readonly everyMs?: number
}

/**
 * A turn of looking and waiting counts as no more: a process that was frozen for minutes, with everything that it waits for, has not waited.
 */
const LONGEST_TURN_MS = 1000

/** Resolves once the condition holds, looking again every so often; past the deadline it says what did not come. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { what, deadlineMs = DEADLINE_MS, everyMs = 1 }: Wait,
): Promise<void> {
  let leftMs = deadlineMs
  let turnMs = performance.now()
  while (!(await condition())) {
    const nowMs = performance.now()
    leftMs -= Math.min(nowMs - turnMs, LONGEST_TURN_MS)
    turnMs = nowMs
    if (leftMs < 0) throw new Error(`waited ${deadlineMs} ms in vain for: ${what}`)
    await sleep(everyMs)
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { Patience } from './patience.js'

/** What a test waits for comes well within this on an idle machine; a busy one may need most of it. */
const DEADLINE_MS = 60_000

export interface Wait {
  readonly what: string
  readonly deadlineMs?: number
  /** More where looking costs the process that is waited for. */
  readonly everyMs?: number
}

/** Resolves once the condition holds, looking again every so often; past the deadline it says what did not come. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { what, deadlineMs = DEADLINE_MS, everyMs = 1 }: Wait,
): Promise<void> {
  const patience = new Patience(deadlineMs)
  while (!(await condition())) {
    if (patience.isOver()) throw new Error(`waited ${deadlineMs} ms in vain for: ${what}`)
    await sleep(everyMs)
  }
}

import { setTimeout as sleep } from 'node:timers/promises'

/** What a test waits for comes well within this on an idle machine; a busy one may need most of it. */
const DEADLINE_MS = 60_000

/** Resolves once the condition holds, looking again every millisecond; past the deadline it says what did not come. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { what, deadlineMs = DEADLINE_MS }: { readonly what: string; readonly deadlineMs?: number },
): Promise<void> {
  const deadline = performance.now() + deadlineMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${deadlineMs} ms in vain for: ${what}`)
    await sleep(1)
  }
}

/**
 * Thread: any. How long a thread of this process has stood ready to run without being given a processor. A thread that gets none is
 * not at fault for what it does not do. Linux counts it; elsewhere it is 0.
 */
import { readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'

/** The number that the system has for the calling thread; 0 where it cannot be told. */
export function systemThreadId(): number {
  try {
    return Number(path.basename(readlinkSync('/proc/thread-self')))
  } catch (error) {
    if (isAbsent(error)) return 0
    throw error
  }
}

/** Since the thread began; 0 for a thread that is unknown or gone. */
export function threadWaitMs(thread: number): number {
  if (thread === 0) return 0
  try {
    const [, waitedNs = 0] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1').split(' ').map(Number)
    return waitedNs / 1e6
  } catch (error) {
    if (isAbsent(error)) return 0
    throw error
  }
}

/** ESRCH: the thread ended between opening and reading. */
const isAbsent = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'EACCES', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')

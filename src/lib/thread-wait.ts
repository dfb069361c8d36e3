/**
 * Thread: any. How long a thread of this process has stood ready to run without being given a processor. A thread that gets none is
 * not at fault for what it does not do. Linux counts it; elsewhere it is 0.
 */
import path from 'node:path'
import { readProc, readProcLink } from './proc-file.js'

/** The number that the system has for the calling thread; 0 where it cannot be told. */
export function systemThreadId(): number {
  const link = readProcLink('thread-self')
  return link === undefined || link === 'absent' ? 0 : Number(path.basename(link))
}

/** Since the thread began; 0 for a thread that is unknown or gone, undefined when it cannot be told at this moment. */
export function threadWaitMs(thread: number): number | undefined {
  if (thread === 0) return 0
  const text = readProc(`self/task/${thread}/schedstat`)
  if (text === undefined) return undefined
  if (text === 'absent') return 0
  const [, waitedNs = 0] = text.split(' ').map(Number)
  return waitedNs / 1e6
}

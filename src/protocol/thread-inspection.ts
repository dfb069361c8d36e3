/**
 * Thread: any. How a thread is looked into while it runs. Each thread gives main a port once; over it main sends it visitors,
 * each a port of its own, so that what is found goes straight to whoever asked, in whichever thread. One question a visitor;
 * a visitor that closes its port has seen enough.
 */
import type { MessagePort } from 'node:worker_threads'
import type { ErrorRecord } from './error-record.js'

/** Of any thread to main, once. Transferred. */
export interface InspectionLine {
  readonly type: 'inspection'
  /** main, owner, pool-3, front-end-5, audit: as metrics name it. */
  readonly thread: string
  readonly port: MessagePort
}

/** Of main to the thread. Transferred. */
export interface Visitor {
  readonly port: MessagePort
}

export type InspectionQuestion =
  /** A CPU profile as Chrome's tools read it (.cpuprofile). */
  | { readonly type: 'profile'; readonly seconds: number }
  /** A heap snapshot (.heapsnapshot). The thread does nothing else meanwhile: some seconds for some hundred megabytes. */
  | { readonly type: 'heap' }
  /** What the thread holds: ThreadReport as JSON. */
  | { readonly type: 'report' }

export type InspectionAnswer =
  | { readonly type: 'piece'; readonly text: string }
  | { readonly type: 'end' }
  | { readonly type: 'failed'; readonly error: ErrorRecord }

export interface ThreadReport {
  readonly thread: string
  /** The number under which the kernel's tools know it (/proc/<process>/task, top -H); undefined where the kernel is not Linux. */
  readonly kernelThread: number | undefined
  readonly heapUsedBytes: number
  readonly heapTotalBytes: number
  readonly heapLimitBytes: number
  readonly externalBytes: number
  /** Of the time since it started, the part in which the thread was not waiting. */
  readonly utilization: number
}

/**
 * Thread: any. How a thread's pages of metrics reach main: over a port of their own, which closes when the thread ends,
 * however it ends.
 */
import type { MessagePort } from 'node:worker_threads'

/** A page as metrics/cell-page.ts lays it out. */
export interface MetricsPage {
  readonly memory: SharedArrayBuffer
  readonly size: { readonly directoryBytes: number; readonly cells: number }
}

/** Of any thread to main, once. The port is transferred; pages come over it as they are made. */
export interface MetricsLine {
  readonly type: 'metrics'
  readonly port: MessagePort
}

/**
 * Thread: any. The whole contract between the process's main thread and a front-end thread. Both sides call, answer and
 * log in the same words; each call may be given up.
 *
 * A front-end thread reads shared memory by itself, over a line of its own to the owner. What it asks main for is what
 * the process has once: the pool, the owner's health, the metrics.
 */
import type { MessagePort } from 'node:worker_threads'
import type { ResourceDefinition } from '../api/resource-definition.js'
import type { ErrorRecord } from './error-record.js'
import type { CacheCosts, HealthProbe, LogLevel, OwnerHealth } from './main-owner.js'
import type { PoolResult, PoolTask, PoolTaskName } from './main-pool.js'
import type { MetricsLine } from './metrics-line.js'
import type { ThreadChange } from './resource-change.js'
import type { RenewedCredentials, ServerCredentials } from './server-credentials.js'
import type { InspectionLine } from './thread-inspection.js'

/** `C` is the completed configuration, `E` the engine of HTTP: plain data, known to both sides. */
export interface FrontEndStart<C, E> {
  readonly config: C
  readonly engine: E
  readonly credentials: ServerCredentials
  /** To the owner: CacheClient.attach() takes it. Transferred. */
  readonly ownerPort: MessagePort
  /** To the audit thread, when there is one. Transferred. */
  readonly auditPort: MessagePort | undefined
  /** What all front ends share: see FrontEndState. */
  readonly state: SharedArrayBuffer
  /** The defined resources as they are when the thread starts. */
  readonly definitions: readonly ResourceDefinition[]
  /** When the process did: wall time in milliseconds. */
  readonly startedMs: number
}

export type MainCalls = {
  /** Bodies are transferred in both directions. */
  pool: (task: PoolTask) => PoolResult<PoolTaskName>
  health: (input: { readonly probe: HealthProbe }) => OwnerHealth
  /** Some pool thread answers. */
  poolAnswers: (input: Record<string, never>) => boolean
  /** What is wrong with the controllers inside; '' when nothing is. */
  controllerProblems: (input: Record<string, never>) => string
  metrics: (input: Record<string, never>) => string
  /** Names of the threads that can be looked into. */
  threads: (input: Record<string, never>) => readonly string[]
  /** A line to one of them, as thread-inspection.ts has it. Transferred. */
  visit: (input: { readonly thread: string }) => { readonly port: MessagePort | undefined }
  cacheCosts: (input: Record<string, never>) => CacheCosts
  /** How long writes were in each stage of their way, as text. */
  traceWrites: (input: { readonly seconds: number }) => string
}

export type FrontEndCalls = {
  /** `isTaken`: another thread listens there already. Replies with the port, also when 0 was asked for. */
  listen: (input: { readonly port: number; readonly isTaken: boolean }) => { readonly port: number }
  /** A defined resource came, changed or went, or access changed; replies when requests see it. */
  change: (change: ThreadChange) => undefined
  /** Files behind certificates have changed. */
  renewCredentials: (renewed: RenewedCredentials) => undefined
  stopListening: (input: Record<string, never>) => undefined
  /** Replies when no request is under way but long-running ones. */
  settle: (input: Record<string, never>) => undefined
  /** Ends watches; replies when no request is under way. */
  drain: (input: Record<string, never>) => undefined
  /** The thread ends after its reply: uWebSockets.js aborts a process in which a thread ends without having closed. */
  close: (input: Record<string, never>) => undefined
}

/** Either side's messages. */
export type CallMessage =
  | { readonly type: 'call'; readonly id: number; readonly method: string; readonly input: unknown }
  /** Nobody waits for the answer any longer; it may come nevertheless. */
  | { readonly type: 'cancel'; readonly id: number }
  | { readonly type: 'reply'; readonly id: number; readonly result: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: ErrorRecord }
  | { readonly type: 'log'; readonly level: LogLevel; readonly fields: object; readonly message: string }
  /** Of a front-end thread: where its metrics come from. */
  | MetricsLine
  /** Of a front-end thread: how it is looked into. */
  | InspectionLine
  /** Of a front-end thread, once: it can be called; or why not. */
  | { readonly type: 'started' }
  | { readonly type: 'failed'; readonly error: ErrorRecord }

/**
 * Thread: main. The controllers thread as the process sees it. When the thread ends by itself it is started anew after
 * a pause. Meanwhile the server goes on serving, and the election lease lets the controllers of another server take
 * over.
 *
 *   start() ──▶ running ──the thread ends──▶ pausing ──▶ running
 *                  └────────close()─────────────┴──▶ closed
 */

import { type MessagePort, Worker } from 'node:worker_threads'
import type { ResourceDefinition } from '../../api/resource-definition.js'
import { type Clock, pause, type Timer } from '../../lib/clock.js'
import { Deferred } from '../../lib/deferred.js'
import { backoff } from '../../lib/jitter.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import { moduleUrl } from '../../lib/module-url.js'
import { YOUNG_GENERATION_MB } from '../../lib/young-generation.js'
import type { AccessChange } from '../../protocol/access-change.js'
import type {
  ControllerHealth,
  ControllerSettings,
  ControllersCalls,
  ControllersMainCalls,
  ControllersStart,
  RemoteAnswer,
  RemoteCall,
  RemoteReport,
} from '../../protocol/main-controllers.js'
import type { CallMessage } from '../../protocol/main-front-end.js'
import type { ThreadChange } from '../../protocol/resource-change.js'
import type { InspectionLine } from '../../protocol/thread-inspection.js'
import type { Config } from '../flags/config.js'
import type { PoolRunner } from './pool.js'
import { PortCalls } from './port-calls.js'
import { transferableResult } from './relayed-pool.js'

const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 60_000
/** How long close() waits for controllers that are in the middle of something. */
const CLOSE_MS = 5_000

export interface ControllersWorkerOptions {
  readonly config: Config
  readonly settings: ControllerSettings
  readonly attach: () => Promise<MessagePort>
  readonly definitions: () => readonly ResourceDefinition[]
  /** What has changed of access so far. */
  readonly access: () => AccessChange
  readonly pool: PoolRunner
  /** The way to extension API servers. */
  readonly relay: RemoteRelay
  readonly clock: Clock
  readonly logger: Logger
  readonly onMetrics: (port: MessagePort) => void
  readonly onInspection: (line: InspectionLine) => void
}

/** What main does for controllers: main/aggregation/controller-relay.ts. */
export interface RemoteRelay {
  resources(): Promise<RemoteReport>
  send(call: RemoteCall): Promise<RemoteAnswer>
}

interface Thread {
  readonly worker: Worker
  readonly calls: PortCalls<ControllersCalls, ControllersMainCalls>
  readonly ended: Deferred<void>
}

export class ControllersWorker implements Closable {
  readonly #options: ControllersWorkerOptions
  #thread: Thread | undefined
  #timer: Timer | undefined
  #attempts = 0
  #closed = false

  constructor(options: ControllersWorkerOptions) {
    this.#options = options
  }

  start(): void {
    void this.#open().catch((error: unknown) => this.#again(error))
  }

  /**
   * Tells the thread of a change. A thread that is not running now needs no word of it: it is given the resources of
   * that time when it starts.
   */
  async change(change: ThreadChange): Promise<void> {
    await this.#thread?.calls.call('change', change).catch(() => undefined)
  }

  /** Throws when the thread has ended and is not back yet. */
  async health(): Promise<ControllerHealth> {
    if (this.#thread === undefined) throw new Error('their thread has ended and is started anew')
    return this.#thread.calls.call('health', {})
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    const thread = this.#thread
    if (thread === undefined) return
    const { clock } = this.#options
    const closing = thread.calls.call('close', {}).then(
      () => thread.ended.promise,
      () => undefined,
    )
    await Promise.race([closing, pause(clock, CLOSE_MS)])
    await thread.worker.terminate()
  }

  async #open(): Promise<void> {
    const { config, settings, attach, definitions, access, pool, relay } = this.#options
    const ownerPort = await attach()
    if (this.#closed) return
    const workerData: ControllersStart<Config> = {
      config,
      settings,
      ownerPort,
      definitions: definitions(),
      access: access(),
    }
    const worker = new Worker(moduleUrl('main/controllers-thread.js'), {
      workerData,
      transferList: [ownerPort],
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    const calls = new PortCalls<ControllersCalls, ControllersMainCalls>({
      port: { postMessage: (message, transfer = []) => worker.postMessage(message, transfer) },
      handlers: {
        pool: ({ type, input }, caller) => pool.run(type, input, caller),
        remoteResources: () => relay.resources(),
        remote: (call) => relay.send(call),
      },
      transferOf: transferableResult,
    })
    const thread: Thread = { worker, calls, ended: new Deferred<void>() }
    this.#thread = thread
    let failure: Error | undefined
    worker.on('message', (message: CallMessage) => this.#take(thread, message))
    worker.on('error', (error) => {
      failure = error
    })
    worker.on('exit', (code) => {
      const error = failure ?? new Error(`the controllers thread ended with code ${code}`)
      this.#thread = undefined
      calls.end(error)
      thread.ended.resolve()
      this.#again(error)
    })
  }

  #take({ calls }: Thread, message: CallMessage): void {
    const { logger, onMetrics, onInspection } = this.#options
    if (calls.take(message)) return
    if (message.type === 'metrics') onMetrics(message.port)
    else if (message.type === 'inspection') onInspection(message)
    else if (message.type === 'log') logger[message.level](message.fields, message.message)
  }

  #again(error: unknown): void {
    if (this.#closed) return
    const { clock, logger } = this.#options
    const pauseMs = backoff(this.#attempts++, FIRST_PAUSE_MS, MAX_PAUSE_MS)
    logger.error({ err: error, pauseMs }, 'the controllers thread ended and is started anew')
    this.#timer = clock.after(pauseMs, () => this.start())
  }
}

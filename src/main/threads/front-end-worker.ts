/**
 * Thread: main. A front end in a thread of its own, as main sees it.
 *
 *   starting ──started──▶ running ──close()──▶ closing ──▶ ended
 *       └──failed or exit──▶ ended      └──exit──▶ ended (the process cannot go on: uWebSockets.js was not closed)
 */

import { type MessagePort, Worker } from 'node:worker_threads'
import { Deferred } from '../../lib/deferred.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import { moduleUrl } from '../../lib/module-url.js'
import { YOUNG_GENERATION_MB } from '../../lib/young-generation.js'
import { fromErrorRecord } from '../../protocol/error-record.js'
import type { CallMessage, FrontEndCalls, FrontEndStart, MainCalls } from '../../protocol/main-front-end.js'
import type { ThreadChange } from '../../protocol/resource-change.js'
import type { RenewedCredentials } from '../../protocol/server-credentials.js'
import type { InspectionLine } from '../../protocol/thread-inspection.js'
import type { Config } from '../flags/config.js'
import type { EngineChoice } from '../http/http-engine.js'
import { type CallHandlers, PortCalls } from './port-calls.js'
import { transferableResult } from './relayed-pool.js'

export interface FrontEndWorkerOptions extends FrontEndStart<Config, EngineChoice> {
  readonly handlers: CallHandlers<MainCalls>
  readonly logger: Logger
  readonly onMetrics: (port: MessagePort) => void
  readonly onInspection: (line: InspectionLine) => void
  readonly onExit: (error: Error) => void
}

export class FrontEndWorker implements Closable {
  readonly #options: FrontEndWorkerOptions
  readonly #worker: Worker
  readonly #calls: PortCalls<FrontEndCalls, MainCalls>
  readonly #started = new Deferred<void>()
  readonly #ended = new Deferred<void>()
  #state: 'starting' | 'running' | 'closing' | 'ended' = 'starting'
  #failure: Error | undefined

  private constructor(options: FrontEndWorkerOptions) {
    this.#options = options
    const { config, engine, credentials, ownerPort, auditPort, state, definitions, startedMs } = options
    const workerData: FrontEndStart<Config, EngineChoice> = {
      config,
      engine,
      credentials,
      ownerPort,
      auditPort,
      state,
      definitions,
      startedMs,
    }
    this.#worker = new Worker(moduleUrl('main/front-end-thread.js'), {
      workerData,
      transferList: auditPort === undefined ? [ownerPort] : [ownerPort, auditPort],
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    this.#calls = new PortCalls<FrontEndCalls, MainCalls>({
      port: { postMessage: (message, transfer = []) => this.#worker.postMessage(message, transfer) },
      handlers: options.handlers,
      transferOf: transferableResult,
    })
    this.#worker.on('message', (message: CallMessage) => this.#take(message))
    this.#worker.on('error', (error) => {
      this.#failure = error
    })
    this.#worker.on('exit', (code) => this.#exited(code))
  }

  static async start(options: FrontEndWorkerOptions): Promise<FrontEndWorker> {
    const worker = new FrontEndWorker(options)
    await worker.#started.promise
    return worker
  }

  async listen(port: number, isTaken: boolean): Promise<number> {
    return (await this.#calls.call('listen', { port, isTaken })).port
  }

  async change(change: ThreadChange): Promise<void> {
    await this.#calls.call('change', change)
  }

  async renewCredentials(renewed: RenewedCredentials): Promise<void> {
    await this.#calls.call('renewCredentials', renewed)
  }

  async stopListening(): Promise<void> {
    await this.#calls.call('stopListening', {})
  }

  async settle(): Promise<void> {
    await this.#calls.call('settle', {})
  }

  async drain(): Promise<void> {
    await this.#calls.call('drain', {})
  }

  async close(): Promise<void> {
    if (this.#state === 'running') {
      this.#state = 'closing'
      await this.#calls.call('close', {})
    }
    await this.#ended.promise
  }

  #take(message: CallMessage): void {
    if (this.#calls.take(message)) return
    if (message.type === 'started') {
      this.#state = 'running'
      this.#started.resolve()
    } else if (message.type === 'failed') this.#failure = fromErrorRecord(message.error)
    else if (message.type === 'metrics') this.#options.onMetrics(message.port)
    else if (message.type === 'inspection') this.#options.onInspection(message)
    else if (message.type === 'log') this.#options.logger[message.level](message.fields, message.message)
  }

  #exited(code: number): void {
    const before = this.#state
    this.#state = 'ended'
    const error = this.#failure ?? new Error(`a front-end thread ended with code ${code}`)
    this.#calls.end(error)
    this.#ended.resolve()
    if (before === 'starting') this.#started.reject(error)
    else if (before === 'running') this.#options.onExit(error)
  }
}

/**
 * Thread: main. Starts the owner thread and talks to it.
 *
 *   starting ──started──▶ running ──stop()──▶ stopped
 *       └──failed, or the thread ends unasked──▶ onExit
 */

import { MessageChannel, type MessagePort, type Transferable, Worker } from 'node:worker_threads'
import { Deferred } from '../../lib/deferred.js'
import type { Logger } from '../../lib/logger.js'
import { moduleUrl } from '../../lib/module-url.js'
import { PendingCalls } from '../../lib/pending-calls.js'
import { YOUNG_GENERATION_MB } from '../../lib/young-generation.js'
import { fromErrorRecord } from '../../protocol/error-record.js'
import type {
  CacheCosts,
  HealthProbe,
  OwnerConfig,
  OwnerControlInput,
  OwnerControlMethod,
  OwnerControlResult,
  OwnerEvent,
  OwnerHealth,
  OwnerResource,
  OwnerToMain,
  ResourceMemory,
} from '../../protocol/main-owner.js'
import type { InspectionLine } from '../../protocol/thread-inspection.js'

export interface OwnerClientOptions {
  readonly config: OwnerConfig
  readonly logger: Logger
  readonly onEvent: (event: OwnerEvent) => void
  /** Takes the line over which the thread sends its pages of metrics. */
  readonly onMetrics?: (port: MessagePort) => void
  /** Takes the line over which the thread can be looked into. */
  readonly onInspection?: (line: InspectionLine) => void
  /** Called when the thread ended without having been asked to. The process must exit: see main-owner.ts. */
  readonly onExit: (error: Error) => void
}

export class OwnerClient {
  readonly #options: OwnerClientOptions
  readonly #worker: Worker
  readonly #started = new Deferred<void>()
  readonly #ended = new Deferred<void>()
  readonly #calls = new PendingCalls<unknown>()
  #state: 'starting' | 'running' | 'stopping' | 'ended' = 'starting'
  #failure: Error | undefined

  private constructor(options: OwnerClientOptions) {
    this.#options = options
    this.#worker = new Worker(moduleUrl('workers/owner-thread.js'), {
      workerData: options.config,
      // The thread runs built modules, so loaders of the process are not for it.
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    this.#worker.on('message', (message: OwnerToMain) => this.#take(message))
    this.#worker.on('error', (error) => {
      this.#failure = error
    })
    this.#worker.on('exit', (code) => this.#exited(code))
  }

  /** Resolves when the storage is open and everything has been listed once. */
  static async start(options: OwnerClientOptions): Promise<OwnerClient> {
    const client = new OwnerClient(options)
    await client.#started.promise
    return client
  }

  /** A port for a thread that reads, to be transferred to it; CacheClient.attach() takes it there. */
  async attach(): Promise<MessagePort> {
    const { port1, port2 } = new MessageChannel()
    await this.#call('attach', { port: port1 }, [port1])
    return port2
  }

  async addResource(resource: OwnerResource): Promise<void> {
    await this.#call('addResource', resource)
  }

  async removeResource(resource: string): Promise<void> {
    await this.#call('removeResource', { resource })
  }

  health(probe: HealthProbe = 'health'): Promise<OwnerHealth> {
    return this.#call('health', { probe })
  }

  memory(): Promise<Readonly<Record<string, ResourceMemory>>> {
    return this.#call('memory', {})
  }

  costs(): Promise<CacheCosts> {
    return this.#call('costs', {})
  }

  async stop(): Promise<void> {
    if (this.#state !== 'running') return this.#ended.promise
    const stopped = this.#call('stop', {})
    this.#state = 'stopping'
    await stopped
    await this.#ended.promise
  }

  #call<K extends OwnerControlMethod>(
    method: K,
    input: OwnerControlInput<K>,
    transfer: Transferable[] = [],
  ): Promise<OwnerControlResult<K>> {
    if (this.#state !== 'running') return Promise.reject(new Error('the owner thread does not run'))
    const id = this.#calls.nextId()
    const reply = this.#calls.wait(id)
    this.#worker.postMessage({ id, method, input }, transfer)
    return reply as Promise<OwnerControlResult<K>>
  }

  #take(message: OwnerToMain): void {
    const { logger, onEvent } = this.#options
    switch (message.type) {
      case 'started':
        this.#state = 'running'
        this.#started.resolve()
        break
      case 'failed':
        this.#failure = fromErrorRecord(message.error)
        void this.#worker.terminate()
        break
      case 'reply':
        this.#calls.resolve(message.id, message.result)
        break
      case 'error':
        this.#calls.reject(message.id, fromErrorRecord(message.error))
        break
      case 'metrics':
        this.#options.onMetrics?.(message.port)
        break
      case 'inspection':
        this.#options.onInspection?.(message)
        break
      case 'event':
        onEvent(message.event)
        break
      case 'log':
        logger[message.level](message.fields, message.message)
        break
    }
  }

  #exited(code: number): void {
    const { onExit } = this.#options
    const asked = this.#state === 'stopping'
    const starting = this.#state === 'starting'
    this.#state = 'ended'
    const error = this.#failure ?? new Error(`the owner thread ended with code ${code}`)
    this.#calls.rejectAll(error)
    this.#ended.resolve()
    if (starting) this.#started.reject(error)
    else if (!asked) onExit(error)
  }
}

/**
 * Thread: main. The audit thread as the process sees it. It is started once, gives each front end a line, and is closed
 * last.
 */

import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { Deferred } from '../../lib/deferred.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import { moduleUrl } from '../../lib/module-url.js'
import type { AuditThreadStart } from '../../protocol/main-audit.js'
import type { LogLevel } from '../../protocol/main-owner.js'
import type { InspectionLine } from '../../protocol/thread-inspection.js'

type ThreadMessage =
  | InspectionLine
  | { readonly type: 'log'; readonly level: LogLevel; readonly fields: object; readonly message: string }
  | { readonly type: 'closed' }

export interface AuditWorkerOptions {
  readonly logger: Logger
  readonly onInspection: (line: InspectionLine) => void
  /**
   * Called when the thread ends without having been asked to. Requests that must be recorded cannot be recorded any
   * more.
   */
  readonly onExit: (error: Error) => void
}

export class AuditWorker implements Closable {
  readonly #worker: Worker
  readonly #ended = new Deferred<void>()

  constructor(start: AuditThreadStart, { logger, onInspection, onExit }: AuditWorkerOptions) {
    let failure: Error | undefined
    let closed = false
    this.#worker = new Worker(moduleUrl('main/audit-thread.js'), { workerData: start, execArgv: [] })
    this.#worker.on('message', (message: ThreadMessage) => {
      if (message.type === 'closed') closed = true
      else if (message.type === 'inspection') onInspection(message)
      else logger[message.level](message.fields, message.message)
    })
    this.#worker.on('error', (error) => {
      failure = error
    })
    this.#worker.on('exit', (code) => {
      this.#ended.resolve()
      if (!closed) onExit(failure ?? new Error(`the audit thread ended with code ${code}`))
    })
  }

  /** The line to the audit thread for one front end. */
  line(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    this.#worker.postMessage({ type: 'line', port: port2 }, [port2])
    return port1
  }

  /** Resolves when everything that was sent is written. */
  async close(): Promise<void> {
    this.#worker.postMessage({ type: 'close' })
    await this.#ended.promise
  }
}

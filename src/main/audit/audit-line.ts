/**
 * Thread: main, or a front end's own. The way from a front end to the audit thread. It never waits: events that do not
 * fit into the buffer are dropped and counted.
 */
import type { MessagePort } from 'node:worker_threads'
import { Deferred } from '../../lib/deferred.js'
import type { AuditItem, AuditReply, AuditRequest } from '../../protocol/main-audit.js'

/** The most bytes of bodies that are on their way; beyond it events are dropped, whatever their number. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024

export interface AuditLineOptions {
  readonly port: MessagePort
  /** The most events that may be on their way. */
  readonly bufferSize: number
  readonly onDropped: (events: number) => void
  readonly onFailed: (events: number) => void
}

interface Sent {
  readonly bytes: number
  readonly written: Deferred<boolean> | undefined
}

const bytesOf = ({ requestBody, responseBody, statusBody }: AuditItem): number =>
  (requestBody?.bytes.byteLength ?? 0) + (responseBody?.bytes.byteLength ?? 0) + (statusBody?.bytes.byteLength ?? 0)

export class AuditLine {
  readonly #options: AuditLineOptions
  readonly #closed = new Deferred<void>()
  #collected: AuditItem[] = []
  #sent: Sent[] = []
  #bytes = 0
  #ended = false

  constructor(options: AuditLineOptions) {
    this.#options = options
    const { port } = options
    port.on('message', (reply: AuditReply) => this.#take(reply))
    port.on('close', () => this.#end())
    port.unref()
  }

  /** False when the item was dropped. */
  send(item: AuditItem): boolean {
    return this.#add(item, undefined)
  }

  /** True once the item is written; false when it could not be, or was dropped. */
  write(item: AuditItem): Promise<boolean> {
    const written = new Deferred<boolean>()
    if (!this.#add(item, written)) written.resolve(false)
    return written.promise
  }

  /** Resolves when every item has been taken by the audit thread. */
  async close(): Promise<void> {
    if (this.#ended) return
    this.#flush()
    this.#options.port.postMessage({ type: 'close' } satisfies AuditRequest)
    await this.#closed.promise
    this.#options.port.close()
  }

  #add(item: AuditItem, written: Deferred<boolean> | undefined): boolean {
    const bytes = bytesOf(item)
    if (this.#ended || this.#sent.length >= this.#options.bufferSize || this.#bytes + bytes > MAX_PENDING_BYTES) {
      this.#options.onDropped(1)
      return false
    }
    // All items of a turn cross together.
    if (this.#collected.length === 0) setImmediate(() => this.#flush())
    this.#collected.push(item)
    this.#sent.push({ bytes, written })
    this.#bytes += bytes
    return true
  }

  #flush(): void {
    if (this.#collected.length === 0) return
    const items = this.#collected
    this.#collected = []
    this.#options.port.postMessage({ type: 'items', items } satisfies AuditRequest)
  }

  #take(reply: AuditReply): void {
    if (reply.type === 'closed') {
      this.#end()
      return
    }
    if (reply.failed > 0) this.#options.onFailed(reply.failed)
    for (const { bytes, written } of this.#sent.splice(0, reply.items)) {
      this.#bytes -= bytes
      written?.resolve(reply.failed === 0)
    }
  }

  #end(): void {
    this.#ended = true
    for (const { written } of this.#sent.splice(0)) written?.resolve(false)
    this.#closed.resolve()
  }
}

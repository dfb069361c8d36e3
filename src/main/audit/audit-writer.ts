/**
 * Thread: audit. Makes events of the items that front ends send, and writes those of each in the order in which it sent
 * them.
 */
import type { Logger } from '../../lib/logger.js'
import type { AuditItem, AuditReply, AuditRequest } from '../../protocol/main-audit.js'
import type { BackendQueue } from './audit-backend.js'
import { type ReadEvent, readItem } from './event-text.js'

export class AuditWriter {
  readonly #queues: readonly BackendQueue[]
  readonly #logger: Logger
  /** The last write: the next one waits for it, so that a log is in order. */
  #last: Promise<void> = Promise.resolve()

  constructor(queues: readonly BackendQueue[], logger: Logger) {
    this.#queues = queues
    this.#logger = logger
  }

  take(request: AuditRequest, reply: (reply: AuditReply) => void): Promise<void> {
    this.#last = this.#last.then(async () => {
      if (request.type === 'close') {
        reply({ type: 'closed' })
        return
      }
      reply({ type: 'written', items: request.items.length, failed: await this.#attempt(request.items) })
    })
    return this.#last
  }

  async close(): Promise<void> {
    await this.#last
    await Promise.all(this.#queues.map((queue) => queue.close()))
  }

  /** What fails counts as not written: those who wait are told, and the next items go on. */
  async #attempt(items: readonly AuditItem[]): Promise<number> {
    try {
      return await this.#write(items)
    } catch (error) {
      this.#logger.error({ err: error, events: items.length }, 'audit events could not be written')
      return items.length
    }
  }

  async #write(items: readonly AuditItem[]): Promise<number> {
    const events: ReadEvent[] = []
    let failed = 0
    for (const item of items) {
      try {
        events.push(readItem(item))
      } catch (error) {
        failed++
        this.#logger.error({ err: error, auditId: item.event.auditID }, 'an audit event could not be made')
      }
    }
    const written = await Promise.all(this.#queues.map((queue) => queue.add(events)))
    return written.every((yes) => yes) ? failed : items.length
  }
}

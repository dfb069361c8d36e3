/** Thread: owner. Serves the embedded engine, or what stands before it, to the ports of other threads; the other end is a RemoteKV. */
import type { MessagePort } from 'node:worker_threads'
import { toErrorRecord } from '../../protocol/error-record.js'
import {
  type OwnerCall,
  type OwnerCalls,
  type OwnerHandlers,
  type OwnerReplies,
  type OwnerReply,
  type RemoteWatchId,
  withoutDraft,
} from '../../protocol/pool-owner.js'
import { StorageError } from '../errors.js'
import type { LocalKV, LocalWatch } from '../local-kv.js'
import { exactBytes, giveAway } from './port-bytes.js'

export class KvServer {
  readonly #engine: LocalKV
  readonly #ports = new Set<ServedPort>()

  constructor(engine: LocalKV) {
    this.#engine = engine
  }

  /** Serves until the port closes or stop(). */
  serve(port: MessagePort): void {
    const served = new ServedPort(this.#engine, port, () => this.#ports.delete(served))
    this.#ports.add(served)
    served.start()
  }

  stop(): void {
    for (const served of [...this.#ports]) served.stop()
  }
}

class ServedPort {
  readonly #engine: LocalKV
  readonly #port: MessagePort
  readonly #onEnd: () => void
  readonly #watches = new Map<RemoteWatchId, LocalWatch>()
  readonly #cancellable = new Map<number, AbortController>()
  readonly #handlers: OwnerHandlers
  #replies: OwnerReply[] = []
  #transfers: ArrayBuffer[] = []
  #ended = false

  constructor(engine: LocalKV, port: MessagePort, onEnd: () => void) {
    this.#engine = engine
    this.#port = port
    this.#onEnd = onEnd
    this.#handlers = this.#makeHandlers()
  }

  start(): void {
    this.#port.on('message', (message: OwnerCalls) => {
      for (const call of message.calls) void this.#take(call)
    })
    this.#port.on('close', () => this.#end())
  }

  stop(): void {
    this.#end()
    this.#port.close()
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    for (const watch of this.#watches.values()) watch.close()
    for (const controller of this.#cancellable.values()) controller.abort()
    this.#onEnd()
  }

  async #take<K extends OwnerCall>(call: K): Promise<void> {
    const { id, method, input } = call
    const controller = new AbortController()
    this.#cancellable.set(id, controller)
    try {
      // The method map pairs each input with its handler; a union of calls loses that.
      const handle = this.#handlers[method] as (input: K['input'], signal: AbortSignal) => Promise<never>
      const result = await handle(input, controller.signal)
      this.#reply({ id, result })
    } catch (error) {
      this.#reply({ id, error: toErrorRecord(error) })
    } finally {
      this.#cancellable.delete(id)
    }
  }

  #reply(reply: OwnerReply): void {
    if (this.#ended) return
    // At the end of the turn: a commit answers many writers at once.
    if (this.#replies.push(reply) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    if (this.#ended) return
    const message: OwnerReplies = { replies: this.#replies, compactedRevision: this.#engine.compactedRevision() }
    const transfers = this.#transfers
    this.#replies = []
    this.#transfers = []
    this.#port.postMessage(message, transfers)
  }

  #makeHandlers(): OwnerHandlers {
    const engine = this.#engine
    return {
      get: async ({ key }, signal) => {
        const found = await engine.get(key, { signal })
        // Read for this call alone. What writes and watches give may be shared with other watches: that is copied.
        if (found.kv !== undefined) this.#giveAway(found.kv.value)
        return found
      },
      list: async ({ prefix, startKey, ...rest }, signal) => {
        const found = await engine.list(prefix, { ...rest, ...(startKey !== undefined && { startKey }), signal })
        for (const kv of found.kvs) this.#giveAway(kv.value)
        return found
      },
      count: ({ prefix }, signal) => engine.count(prefix, { signal }),
      put: ({ key, value, expectedModRevision, lease, getOnFailure, draft }, signal) =>
        engine.optimisticPut(key, value, expectedModRevision, {
          lease,
          getOnFailure,
          signal,
          ...(draft !== undefined && { draft }),
        }),
      delete: ({ key, expectedModRevision, getOnFailure }, signal) =>
        engine.optimisticDelete(key, expectedModRevision, { getOnFailure, signal }),
      grantLease: ({ ttlSeconds }, signal) => engine.grantLease(ttlSeconds, { signal }),
      currentRevision: (_, signal) => engine.currentRevision({ signal }),
      compact: async ({ revision }, signal) => {
        await engine.compact(revision, { signal })
        return undefined
      },
      databaseSizes: (_, signal) => engine.databaseSizes({ signal }),
      ...this.#watchHandlers(),
      cancel: async ({ call }) => {
        this.#cancellable.get(call)?.abort()
        return undefined
      },
    }
  }

  #watchHandlers(): Pick<OwnerHandlers, 'openWatch' | 'pullWatch' | 'closeWatch' | 'requestProgress'> {
    return {
      openWatch: async ({ watch, ...options }) => {
        const opened = this.#engine.openWatch(options)
        this.#watches.set(watch, opened)
        await opened.established
        return undefined
      },
      pullWatch: async ({ watch }) => {
        const open = this.#watches.get(watch)
        if (open === undefined) throw new StorageError('invalid-request', `there is no watch ${watch} on this port`)
        const batch = await open.next()
        return batch && { events: batch.events.map(withoutDraft), revision: batch.revision }
      },
      closeWatch: async ({ watch }) => {
        this.#watches.get(watch)?.close()
        this.#watches.delete(watch)
        return undefined
      },
      requestProgress: async () => {
        for (const watch of this.#watches.values()) watch.requestProgress()
        return undefined
      },
    }
  }

  #giveAway(value: Uint8Array): void {
    giveAway(exactBytes(value), this.#transfers)
  }
}

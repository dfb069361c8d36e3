/**
 * Thread: owner. Serves the embedded engine, or the AppliedKV in front of it, to the ports of other threads. The other
 * end of a port is a RemoteKV.
 */
import type { MessagePort } from 'node:worker_threads'
import { Cancellation } from '../../lib/cancellation.js'
import { toErrorRecord } from '../../protocol/error-record.js'
import type {
  OwnerCall,
  OwnerCalls,
  OwnerHandlers,
  OwnerReplies,
  OwnerReply,
  RemoteWatchId,
} from '../../protocol/pool-owner.js'
import { StorageError } from '../contract/errors.js'
import type { CallOptions, KeyValue, KvEvent, KvWriteResult } from '../contract/kv.js'
import type { LocalKV, LocalWatch } from '../contract/local-kv.js'
import { exactBytes, giveAway } from './port-bytes.js'

export class KvServer {
  readonly #engine: LocalKV
  readonly #ports = new Set<ServedPort>()

  constructor(engine: LocalKV) {
    this.#engine = engine
  }

  /** Serves the port until it closes or the server is stopped. */
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
  readonly #cancellable = new Map<number, Cancellation>()
  readonly #handlers: OwnerHandlers
  #replies: OwnerReply[] = []
  #written: number[] = []
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
    for (const call of this.#cancellable.values()) call.abort('the port is closed')
    this.#onEnd()
  }

  async #take<K extends OwnerCall>(call: K): Promise<void> {
    const { id, method, input, cancellable } = call
    try {
      // The method map pairs each input with its handler; the union of calls does not show that to the compiler.
      const handle = this.#handlers[method] as (input: K['input'], options: CallOptions) => Promise<never>
      const result = await handle(input, cancellable ? this.#cancellation(id) : {})
      this.#reply({ id, result })
    } catch (error) {
      this.#reply({ id, error: toErrorRecord(error) })
    } finally {
      if (cancellable) this.#cancellable.delete(id)
    }
  }

  #cancellation(id: number): CallOptions {
    const signal = new Cancellation()
    this.#cancellable.set(id, signal)
    return { signal }
  }

  #reply(reply: OwnerReply): void {
    if (this.#ended) return
    // Replies are sent at the end of the turn: a commit answers many writers at once.
    if (this.#replies.length === 0 && this.#written.length === 0) setImmediate(() => this.#flush())
    const revision = revisionOfPlainWrite(reply)
    if (revision === undefined) this.#replies.push(reply)
    else this.#written.push(reply.id, revision)
  }

  #flush(): void {
    if (this.#ended) return
    const message: OwnerReplies = {
      replies: this.#replies,
      written: this.#written,
      compactedRevision: this.#engine.compactedRevision(),
    }
    const transfers = this.#transfers
    this.#replies = []
    this.#written = []
    this.#transfers = []
    this.#port.postMessage(message, transfers)
  }

  #makeHandlers(): OwnerHandlers {
    const engine = this.#engine
    return {
      get: async ({ key }, options) => {
        const found = await engine.get(key, options)
        // The value was read for this call alone, so it can be moved. Values of writes and watches may be shared with
        // other watches: they are copied.
        if (found.kv !== undefined) this.#giveAway(found.kv.value)
        return found
      },
      list: async ({ prefix, startKey, ...rest }, options) => {
        const found = await engine.list(prefix, { ...rest, ...(startKey !== undefined && { startKey }), ...options })
        for (const kv of found.kvs) this.#giveAway(kv.value)
        return found
      },
      count: ({ prefix }, options) => engine.count(prefix, options),
      put: async ({ key, value, expectedModRevision, draft, ...rest }, options) =>
        portableResult(
          await engine.optimisticPut(key, value, expectedModRevision, {
            ...rest,
            ...options,
            ...(draft !== undefined && { draft }),
          }),
        ),
      delete: async ({ key, expectedModRevision, getOnFailure }, options) =>
        portableResult(await engine.optimisticDelete(key, expectedModRevision, { getOnFailure, ...options })),
      grantLease: ({ ttlSeconds }, options) => engine.grantLease(ttlSeconds, options),
      currentRevision: (_, options) => engine.currentRevision(options),
      compact: async ({ revision }, options) => {
        await engine.compact(revision, options)
        return undefined
      },
      databaseSizes: (_, options) => engine.databaseSizes(options),
      ...this.#watchHandlers(),
      cancel: async ({ call }) => {
        this.#cancellable.get(call)?.abort('the caller gave up')
        return undefined
      },
    }
  }

  #watchHandlers(): Pick<OwnerHandlers, 'openWatch' | 'pullWatch' | 'closeWatch' | 'requestProgress'> {
    return {
      openWatch: async ({ watch, ...rest }) => {
        const opened = this.#engine.openWatch(rest)
        this.#watches.set(watch, opened)
        await opened.established
        return undefined
      },
      pullWatch: async ({ watch }) => {
        const open = this.#watches.get(watch)
        if (open === undefined) throw new StorageError('invalid-request', `there is no watch ${watch} on this port`)
        const batch = await open.next()
        return batch && { events: batch.events.map(portableEvent), revision: batch.revision }
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

/** An event without its draft, which is for the watch cache in this thread. */
const portableEvent = ({ type, kv, prev }: KvEvent): KvEvent => ({
  type,
  kv: portable(kv),
  prev: prev && portable(prev),
})

const portableResult = (result: KvWriteResult): KvWriteResult =>
  result.kv === undefined ? result : { ...result, kv: portable(result.kv) }

/** A key-value whose value is no part of a larger buffer, as writers in this thread may pass it. */
const portable = (kv: KeyValue): KeyValue =>
  kv.value.byteLength === kv.value.buffer.byteLength ? kv : { ...kv, value: exactBytes(kv.value) }

function revisionOfPlainWrite(reply: OwnerReply): number | undefined {
  if (!('result' in reply)) return undefined
  const { result } = reply
  if (typeof result !== 'object' || !('succeeded' in result)) return undefined
  return result.succeeded && result.kv === undefined ? result.revision : undefined
}

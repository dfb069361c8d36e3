/**
 * Thread: any. A watch that outlives its connections.
 *
 *   starting ── server accepts ──▶ running ── stream breaks ──▶ waiting ── backoff ──▶ running …
 *                                     └── compacted, refused ──▶ failed      close() from anywhere ──▶ closed
 *
 * The consumer pulls. Events that it has not pulled are held up to `bufferBytes`; beyond that the stream is not read,
 * and flow control stops the server, for this watch alone. After a break the watch goes on from the first revision that
 * is not complete in the buffer: complete revisions were or will be delivered, the others are sent again from their
 * beginning.
 *
 * The watch asks for one revision more than it needs, and drops that one. etcd (3.4.23 for one) forgets a deletion when
 * exactly its revision is compacted, and starts a watch there all the same, with a gap; one revision earlier it
 * refuses. One gap remains: a slow watch that etcd itself holds at exactly that revision when the compaction comes.
 *
 * A store that was restored from a backup accepts a watch from a revision that it has not reached yet, and stays
 * silent. So after each break the store is asked whether it still has what it sent before; if not, the watch fails with
 * `too-old`.
 */
import { assert } from '../../lib/assert.js'
import type { Clock, Timer } from '../../lib/clock.js'
import { backoff, type Random } from '../../lib/jitter.js'
import type { Logger } from '../../lib/logger.js'
import { isUnreachable, StorageError } from '../contract/errors.js'
import { type KeyValue, type KvWatch, type KvWatchBatch, type KvWatchOptions, prefixEnd } from '../contract/kv.js'
import { GrpcError, GrpcStatus } from '../grpc/grpc-error.js'
import type { GrpcChannel } from './channel.js'
import type { Endpoints } from './endpoints.js'
import { storageCodeOf, toStorageError } from './etcd-error.js'
import type { WatchResponse } from './messages.js'
import { WatchBuffer } from './watch-buffer.js'
import { WatchStream } from './watch-stream.js'

export interface EtcdWatchOptions {
  readonly watch: KvWatchOptions
  readonly endpoints: Endpoints
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly bufferBytes: number
  readonly currentRevision: () => Promise<number>
  /** The key as it was at a revision; 'unknown' when that is compacted. */
  readonly stateAt: (key: string, revision: number) => Promise<KeyValue | undefined | 'unknown'>
  /** Fills in what a server left out; gives the batch back when nothing is missing. */
  readonly completed: (batch: KvWatchBatch) => KvWatchBatch | Promise<KvWatchBatch>
  readonly progressTrustedAt: (url: string) => Promise<boolean>
  readonly onCompacted: (revision: number) => void
  readonly onClose: () => void
}

/** A server that accepts the stream and not the watch within this time is left for another one. */
const CREATE_TIMEOUT_MS = 15_000
const ACQUIRE_TIMEOUT_MS = 60_000
const RESUME_BASE_MS = 20
const RESUME_CAP_MS = 2_000

export class EtcdWatch implements KvWatch {
  readonly established: Promise<void>
  readonly #options: EtcdWatchOptions
  readonly #buffer: WatchBuffer
  readonly #abort = new AbortController()
  #accept!: () => void
  #refuse!: (error: Error) => void
  #stream: WatchStream | undefined
  #streamPaused = false
  #attempt = 0
  #failure: StorageError | undefined
  /** Whether a stream has been accepted before, so that the next one goes on after it. */
  #resuming = false
  /**
   * The last put that was received. When its key turns out not to have had it at its revision, the store is another
   * one.
   */
  #witness: KeyValue | undefined
  #closed = false
  #waiter: { resolve: (batch: KvWatchBatch | undefined) => void; reject: (error: Error) => void } | undefined

  constructor(options: EtcdWatchOptions) {
    this.#options = options
    this.#buffer = new WatchBuffer(options.watch.startRevision)
    this.established = new Promise((resolve, reject) => {
      this.#accept = resolve
      this.#refuse = reject
    })
    // A consumer that only pulls hears of the failure from next(); `established` must not count as unhandled then.
    this.established.catch(() => undefined)
  }

  start(): void {
    const { signal } = this.#options.watch
    if (signal?.aborted) {
      this.close()
      return
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.#run().catch((error: unknown) => this.#fail(toStorageError(error, `watch ${this.#options.watch.key}`)))
  }

  async next(): Promise<KvWatchBatch | undefined> {
    assert(this.#waiter === undefined, 'a watch is pulled by one consumer')
    const batch = this.#buffer.shift() ?? (await this.#arrival())
    if (this.#streamPaused && this.#buffer.bytes <= this.#options.bufferBytes / 2) {
      this.#streamPaused = false
      this.#stream?.resume()
    }
    return batch === undefined ? undefined : this.#options.completed(batch)
  }

  close(): void {
    if (this.#closed) return
    this.#buffer.clear()
    this.#finish()
    this.#refuse(new StorageError('unreachable', 'the watch was closed before a server accepted it'))
    this.#waiter?.resolve(undefined)
    this.#waiter = undefined
  }

  async requestProgress(): Promise<void> {
    const stream = this.#stream
    if (stream === undefined || !(await this.#options.progressTrustedAt(stream.url))) return
    if (stream === this.#stream) stream.requestProgress()
  }

  #arrival(): Promise<KvWatchBatch | undefined> {
    if (this.#failure !== undefined) {
      const failure = this.#failure
      this.#failure = undefined
      return Promise.reject(failure)
    }
    if (this.#closed) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject }
    })
  }

  async #run(): Promise<void> {
    const buffer = this.#buffer
    while (buffer.nextRevision === 0 && !this.#closed) await this.#fixStart()
    while (!this.#closed) {
      const error = await this.#followOnce()
      if (this.#closed) return
      buffer.dropIncomplete()
      this.#options.logger.debug({ err: error, resumeAt: buffer.nextRevision }, 'an etcd watch is resumed')
      await this.#pause()
    }
  }

  /** Turns "from now on" into a revision, so that a break before the first event is no different from one after it. */
  async #fixStart(): Promise<void> {
    try {
      this.#buffer.pushProgress(await this.#options.currentRevision(), false)
    } catch (error) {
      if (!isUnreachable(error)) throw error
      await this.#pause()
    }
  }

  /** Follows one stream until it ends. Throws failures that no other server can mend. */
  async #followOnce(): Promise<Error> {
    let channel: GrpcChannel
    try {
      channel = await this.#options.endpoints.acquire(ACQUIRE_TIMEOUT_MS, this.#abort.signal)
    } catch (error) {
      if (error instanceof GrpcError) return error
      throw error
    }
    let created = false
    const error = await this.#followOn(channel, () => {
      created = true
    })
    if (!created && !this.#closed) this.#options.endpoints.failed(channel, error)
    return error
  }

  #followOn(channel: GrpcChannel, onCreated: () => void): Promise<Error> {
    const { watch, clock, endpoints } = this.#options
    return new Promise((resolve) => {
      let timer: Timer | undefined
      const request = {
        key: watch.key,
        startRevision: Math.max(1, this.#buffer.nextRevision - 1),
        ...(watch.prefix && { rangeEnd: prefixEnd(watch.key) }),
      }
      const onEnd = (error: Error): void => {
        timer?.cancel()
        this.#stream = undefined
        resolve(error)
      }
      const onResponse = (response: WatchResponse, bytes: number): void => {
        if (response.created && !response.canceled) {
          timer?.cancel()
          onCreated()
          endpoints.succeeded(channel)
          this.#attempt = 0
          this.#accept()
          if (this.#resuming) void this.#verify(this.#stream)
          this.#resuming = true
        }
        this.#take(response, bytes)
      }
      try {
        const stream = new WatchStream(channel, request, { onResponse, onEnd })
        this.#stream = stream
        timer = clock.after(CREATE_TIMEOUT_MS, () =>
          stream.close(
            new GrpcError(GrpcStatus.deadlineExceeded, `the watch was not accepted in ${CREATE_TIMEOUT_MS} ms`),
          ),
        )
        if (this.#streamPaused) stream.pause()
      } catch (error) {
        onEnd(error as Error)
      }
    })
  }

  /**
   * Finds out whether the store went back while no stream was open. What cannot be asked now is asked after the next
   * break.
   */
  async #verify(stream: WatchStream | undefined): Promise<void> {
    const { watch, currentRevision, stateAt, logger } = this.#options
    const witness = this.#witness
    const seen = Math.max(this.#buffer.nextRevision - 1, witness?.modRevision ?? 0)
    try {
      const revision = await currentRevision()
      const state =
        witness === undefined || revision < seen ? 'unknown' : await stateAt(witness.key, witness.modRevision)
      if (stream !== this.#stream) return
      const isSame = state === 'unknown' || state?.modRevision === witness?.modRevision
      if (revision >= seen && isSame) return
      const message = `etcd: watch ${watch.key}: the store went back from revision ${seen} to ${revision}`
      this.#fail(new StorageError('too-old', message, { resourceVersion: seen, currentRevision: revision }))
    } catch (error) {
      logger.debug({ err: error }, 'an etcd watch could not be verified')
    }
  }

  #take(response: WatchResponse, bytes: number): void {
    if (response.canceled) {
      this.#cancelled(response)
      return
    }
    if (response.events.length > 0) {
      this.#witness = response.events.findLast(({ type }) => type === 'put')?.kv ?? this.#witness
      this.#buffer.pushEvents(response, bytes)
    } else if (!response.created) {
      // A reply to a progress request carries no watch's number; only trusted servers are sent such requests.
      const asked = response.watchId < 0
      this.#buffer.pushProgress(response.revision, asked || this.#options.watch.progressNotify === true)
    }
    this.#handOver()
    if (!this.#streamPaused && this.#buffer.bytes > this.#options.bufferBytes) {
      this.#streamPaused = true
      this.#stream?.pause()
    }
  }

  #handOver(): void {
    if (this.#waiter === undefined) return
    const batch = this.#buffer.shift()
    if (batch === undefined) return
    const waiter = this.#waiter
    this.#waiter = undefined
    waiter.resolve(batch)
  }

  #cancelled(response: WatchResponse): void {
    const { key } = this.#options.watch
    const { compactRevision, cancelReason } = response
    if (compactRevision > 0) {
      this.#options.onCompacted(compactRevision)
      const resourceVersion = this.#buffer.nextRevision
      const message = `etcd: watch ${key}: revision ${resourceVersion} has been compacted (up to ${compactRevision})`
      this.#fail(new StorageError('too-old', message, { key, resourceVersion, compactRevision }))
      return
    }
    if (REFUSALS.some((text) => cancelReason.includes(text))) {
      this.#fail(
        new StorageError(storageCodeOf(GrpcStatus.unknown, cancelReason), `etcd: watch ${key}: ${cancelReason}`),
      )
      return
    }
    this.#stream?.close(new GrpcError(GrpcStatus.unavailable, `cancelled by the server: ${cancelReason}`))
  }

  async #pause(): Promise<void> {
    const { clock, random } = this.#options
    const delayMs = backoff(this.#attempt++, RESUME_BASE_MS, RESUME_CAP_MS, random)
    const { signal } = this.#abort
    await new Promise<void>((resolve) => {
      const done = (): void => {
        timer.cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = clock.after(delayMs, done)
      signal.addEventListener('abort', done, { once: true })
      if (signal.aborted) done()
    })
  }

  /** Buffered batches are still delivered; the failure comes after them, once. */
  #fail(error: StorageError): void {
    if (this.#closed) return
    this.#finish()
    this.#refuse(error)
    if (this.#waiter !== undefined) {
      this.#waiter.reject(error)
      this.#waiter = undefined
    } else this.#failure = error
  }

  #finish(): void {
    this.#closed = true
    this.#options.watch.signal?.removeEventListener('abort', this.#onAbort)
    this.#abort.abort()
    this.#stream?.close(new GrpcError(GrpcStatus.cancelled, 'the watch is over'))
    this.#options.onClose()
  }

  readonly #onAbort = (): void => this.close()
}

/** Failures for which asking another server, or again, would not help. */
const REFUSALS = [
  'permission denied',
  'invalid auth token',
  'user name is empty',
  'required revision has been compacted',
]

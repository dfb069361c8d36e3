/**
 * Thread: owner. One resource on its way into shared memory, and what to do with it when that fails.
 *
 *   filling ──filled──▶ ready
 *      ▲  └──fall────▶  fallen ◀──fall── ready         any ──close──▶ closed
 *      └────refill──────┘
 *
 * Filling keeps back the events that the live stream brings meanwhile; filled() applies those that the list lacks.
 * A fallen resource has no arena and is read from its storage. It is filled again when the object that could not be read has changed, and
 * from time to time; not when its memory limit was the reason, since it would only fall again.
 */
import { AssertionError, assert } from '../../lib/assert.js'
import type { Logger } from '../../lib/logger.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import { isCorruptObject, StorageError } from '../../storage/contract/errors.js'
import type { KeyValue } from '../../storage/contract/kv.js'
import { isKeyServiceFailure, keyServiceUnreachable } from '../../storage/contract/transform-error.js'
import type { ArenaWriter, MemoryReport } from '../memory/shared-memory.js'
import type { ResourceEvents } from './cacher-metrics.js'
import type { FallbackReason, ResourceRegistration, ResourceStatus } from './resource-registration.js'

export interface ArenaEntry {
  readonly key: string
  readonly draft: RecordDraft
  readonly modRevision: number
  readonly createRevision: number
}

export interface Change {
  readonly key: string
  readonly revision: number
  readonly createRevision: number
  /** Undefined: deleted. An Error: there, and unreadable. */
  readonly draft: RecordDraft | Error | undefined
}

/** Told of every change of state, for metrics and for the readers' side. */
export type StatusListener = (resource: string, status: ResourceStatus) => void

/** Events kept back for one resource; a fill that is overtaken by more starts again. */
const MAX_HELD_CHANGES = 100_000

export class CachedResource {
  readonly registration: ResourceRegistration
  readonly events: ResourceEvents
  readonly #logger: Logger
  readonly #onStatus: StatusListener
  #status: ResourceStatus = { state: 'filling' }
  #held: Change[] = []
  #arena: ArenaWriter | undefined
  #corruptKey: string | undefined
  /** Counts fills, so that one that was overtaken by a relist or a removal notices. */
  #generation = 0

  constructor(registration: ResourceRegistration, logger: Logger, onStatus: StatusListener, events: ResourceEvents) {
    this.registration = registration
    this.events = events
    this.#logger = logger
    this.#onStatus = onStatus
    this.#arena = registration.createArena()
  }

  get status(): ResourceStatus {
    return this.#status
  }

  /** Undefined when it has no memory. */
  memory(): MemoryReport | undefined {
    return this.#arena?.memory()
  }

  get generation(): number {
    return this.#generation
  }

  get closed(): boolean {
    return this.#status.state === 'closed'
  }

  /** True when a new fill may help. */
  get refillable(): boolean {
    return this.#status.state === 'fallen' && this.#status.reason !== 'memory-limit'
  }

  /** Decrypts and decodes; synchronous when the transformer is. Gives the failure instead of throwing it. */
  decode(kv: KeyValue): RecordDraft | Error | Promise<RecordDraft | Error> {
    const { transformer, recordDraft } = this.registration
    const fail = (cause: unknown): Error =>
      isCorruptObject(cause)
        ? (cause as StorageError)
        : isKeyServiceFailure(cause)
          ? keyServiceUnreachable(kv.key, cause)
          : new StorageError('corrupt-object', `the object at ${kv.key} cannot be read`, { key: kv.key, cause })
    try {
      const result = transformer.transformFromStorage(kv.value, kv.key)
      if (!(result instanceof Promise)) return recordDraft(result.data, kv.key)
      return result.then(({ data }) => recordDraft(data, kv.key)).catch(fail)
    } catch (cause) {
      return fail(cause)
    }
  }

  /** Starts a fill and gives its number. The old state is neither read nor changed until replace(). */
  beginFill(): number {
    this.#held = []
    this.#corruptKey = undefined
    this.#arena ??= this.registration.createArena()
    this.#setStatus({ state: 'filling' })
    return ++this.#generation
  }

  /** While it fills: what is in memory is of another history, and whoever reads it begins again in a new arena. */
  reset(): void {
    if (this.#arena === undefined) return
    this.#closeArena()
    this.#arena = this.registration.createArena()
  }

  /** The listed state. Not ready until filled(): the clock may have to move first. */
  replace(entries: readonly ArenaEntry[], revision: number): void {
    this.#arena?.setReady(false)
    this.#guard((arena) => {
      arena.replace(entries, revision)
      arena.publish(revision)
    })
  }

  /** Applies what was kept back after `listRevision` and opens the resource to readers. */
  filled(listRevision: number): void {
    const held = this.#held
    this.#held = []
    if (this.#status.state !== 'filling') return
    this.#setStatus({ state: 'ready' })
    for (const change of held) {
      if (change.revision <= listRevision) continue
      this.apply(change)
      this.publish(change.revision)
    }
    if (this.status.state === 'ready') this.#arena?.setReady(true)
  }

  /** One change of the live stream; gives true when publish() has to follow. */
  apply(change: Change): boolean {
    switch (this.#status.state) {
      case 'filling':
        this.#held.push(change)
        if (this.#held.length > MAX_HELD_CHANGES) this.#generation++
        return false
      case 'ready':
        return this.#write(change)
      case 'fallen':
        // Whatever replaced the object that could not be read is worth another try.
        if (change.key === this.#corruptKey && !(change.draft instanceof Error)) this.#corruptKey = undefined
        return false
      case 'closed':
        return false
    }
  }

  /** True once, when the object that made it fall has been replaced or deleted. */
  get repaired(): boolean {
    return this.refillable && this.#corruptKey === undefined
  }

  publish(revision: number): void {
    if (this.#status.state === 'ready') this.#guard((arena) => arena.publish(revision))
  }

  /** An object could not be read: it is broken, or the service that has its key cannot be asked. */
  fallBy(error: Error, key: string): void {
    this.fall(isCorruptObject(error) ? 'corrupt-object' : 'key-service', error, key)
  }

  fall(reason: FallbackReason, error: Error, key?: string): void {
    if (this.#status.state === 'fallen' || this.closed) return
    const { resource } = this.registration
    this.#closeArena()
    this.#held = []
    this.#corruptKey = key
    this.#logger.warn({ resource, reason, key, error }, 'the resource is read from its storage, not from memory')
    this.#setStatus({ state: 'fallen', reason, message: error.message })
  }

  close(): void {
    if (this.closed) return
    this.#held = []
    this.#generation++
    this.#closeArena()
    this.#setStatus({ state: 'closed' })
  }

  #write(change: Change): boolean {
    const { draft } = change
    if (draft instanceof Error) {
      this.fallBy(draft, change.key)
      return false
    }
    return this.#guard((arena) => {
      if (draft === undefined) arena.delete(change.key, change.revision)
      else arena.put(change.key, draft, change.revision, change.createRevision)
    })
  }

  /** Shared memory that cannot take more ends this resource's caching, nothing else. */
  #guard(write: (arena: ArenaWriter) => void): boolean {
    assert(this.#arena !== undefined, 'a resource without an arena is not written')
    try {
      write(this.#arena)
      return true
    } catch (error) {
      if (!(error instanceof Error) || error instanceof AssertionError) throw error
      this.fall('memory-limit', error)
      return false
    }
  }

  #closeArena(): void {
    this.#arena?.setReady(false)
    this.#arena?.close()
    this.#arena = undefined
  }

  #setStatus(status: ResourceStatus): void {
    if (status.state === this.#status.state && status.state !== 'fallen') return
    this.#status = status
    this.#onStatus(this.registration.resource, status)
  }
}

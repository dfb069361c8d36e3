/**
 * Thread: owner. One resource on its way into shared memory, and what to do with it when that fails.
 *
 *   filling ──filled──▶ ready
 *      ▲  └──fall────▶  fallen ◀──fall── ready         any ──close──▶ closed
 *      └────refill──────┘
 *
 * While the resource fills, events of the live stream are kept back; filled() applies those that the list lacks.
 *
 * A fallen resource is read from its storage. When it fell because of objects that cannot be read, the readable ones
 * stay in a partial arena, kept up from the stream, for followers such as the authorizers (ResourceView.known): one
 * broken role must not take all others away. An object that was known and became unreadable stays there as it was last
 * read. A fallen resource is filled again when nothing unreadable is left, when enough objects were deleted after the
 * memory limit was met, and from time to time.
 */
import { AssertionError, assert } from '../../lib/assert.js'
import type { Logger } from '../../lib/logger.js'
import type { ArenaCosts, MemoryReport } from '../../protocol/main-owner.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import { isCorruptObject, StorageError } from '../../storage/contract/errors.js'
import type { KeyValue } from '../../storage/contract/kv.js'
import { isKeyServiceFailure, keyServiceUnreachable } from '../../storage/contract/transform-error.js'
import type { ArenaEntry, ArenaReplacement, ArenaWriter } from '../memory/shared-memory.js'
import type { ResourceEvents } from './cacher-metrics.js'
import type { FallbackReason, ResourceRegistration, ResourceStatus } from './resource-registration.js'

export interface Change {
  readonly key: string
  readonly revision: number
  readonly createRevision: number
  /** What memory keeps of the object; undefined when it was deleted, an Error when it exists and cannot be read. */
  readonly draft: RecordDraft | Error | undefined
}

/** Is told of every change of a resource's state, for metrics and for the threads that read. */
export type StatusListener = (resource: string, status: ResourceStatus) => void

/** So many changes are kept back for one resource while it fills; a fill that more of them overtake starts again. */
const MAX_HELD_CHANGES = 100_000
/**
 * A resource that did not fit is filled again when this part of its objects has been deleted: so each list is paid for
 * by deletions.
 */
const SHRUNK_PART = 0.1

export class CachedResource {
  readonly registration: ResourceRegistration
  readonly events: ResourceEvents
  readonly #logger: Logger
  readonly #onStatus: StatusListener
  #status: ResourceStatus = { state: 'filling' }
  #held: Change[] = []
  /** What the fill under way has put into the arena so far; readers do not see it yet. */
  #replacement: ArenaReplacement | undefined
  /** What the fill under way has listed so far, when the arena is partial and has to stay until the list is complete. */
  #listed: ArenaEntry[] = []
  /** How many objects the fill under way has put into the arena. */
  #takenIn = 0
  #arena: ArenaWriter | undefined
  /** The arena lacks objects that could not be read: it is for followers only, and never becomes ready again. */
  #partial = false
  /** The keys of the objects that cannot be read, while the resource has fallen because of them. */
  readonly #unreadable = new Set<string>()
  /** The objects that the fill under way could not read, by key. */
  #missing = new Map<string, Error>()
  /** True when the stream goes on during the fill under way: then a partial arena is kept up meanwhile. */
  #keptUp = false
  /** So many objects must be deleted before a resource that did not fit is filled again. */
  #deletionsToCome = 0
  /** The number of the last fill, by which a fill notices that a relist or a removal has overtaken it. */
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

  /** The memory that the resource takes; undefined when it has no arena. */
  memory(): MemoryReport | undefined {
    return this.#arena?.memory()
  }

  costs(): ArenaCosts | undefined {
    return this.#arena?.costs()
  }

  /** The store has forgotten what was before the revision (ArenaWriter.forget). */
  forget(revision: number): void {
    this.#arena?.forget(revision)
  }

  get generation(): number {
    return this.#generation
  }

  get closed(): boolean {
    return this.#status.state === 'closed'
  }

  /** True while the resource is read from its storage; a later fill may end that. */
  get fallen(): boolean {
    return this.#status.state === 'fallen'
  }

  /**
   * Decrypts and decodes an object, synchronously when its transformer is synchronous. A failure is returned, not
   * thrown.
   */
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

  /**
   * Has the objects of a page decoded by other threads; undefined when none has room, or a key service has to be asked for the objects.
   * What they cannot read is decoded here once more, which tells why.
   */
  decodeElsewhere(kvs: readonly KeyValue[]): Promise<readonly (RecordDraft | Error)[]> | undefined {
    const { transformer, draftMakers } = this.registration
    if (draftMakers?.hasRoom() !== true) return undefined
    const values: Uint8Array[] = []
    try {
      for (const { key, value } of kvs) {
        const result = transformer.transformFromStorage(value, key)
        if (result instanceof Promise) {
          result.catch(() => undefined)
          return undefined
        }
        values.push(result.data)
      }
    } catch {
      return undefined
    }
    return draftMakers.drafts(values).then((drafts) => Promise.all(kvs.map((kv, i) => drafts?.[i] ?? this.decode(kv))))
  }

  /**
   * Starts a fill and gives its number. `keptUp`: the stream goes on meanwhile. What is in memory is neither read nor
   * replaced until replace().
   */
  beginFill({ keptUp }: { keptUp: boolean }): number {
    this.#held = []
    this.#dropListed()
    this.#missing = new Map()
    this.#keptUp = keptUp
    this.#arena ??= this.registration.createArena()
    this.#setStatus({ state: 'filling' })
    return ++this.#generation
  }

  /**
   * Closes the arena, so that readers have to begin again in a new one: it holds another history of the store. Called
   * while the resource fills.
   */
  reset(): void {
    if (this.#arena === undefined) return
    this.#closeArena()
    this.#arena = this.registration.createArena()
  }

  /**
   * Takes the next objects of the list, in the order of their keys. They go into the arena at once, because a resource may be as
   * large as the memory that it takes there.
   */
  takeIn(entries: readonly ArenaEntry[]): void {
    if (this.#partial) {
      this.#listed.push(...entries)
      return
    }
    this.#takenIn += entries.length
    this.#guard((arena) => {
      this.#replacement ??= arena.beginReplace()
      this.#replacement.add(entries)
    }, this.#takenIn)
  }

  /** Puts the listed state in place. Readers get it with filled(), because the clock may have to move first. */
  replace(revision: number): void {
    if (this.#partial) {
      // The list lacks objects too. The arena that was kept up has their last readable states, so it stays.
      if (this.#missing.size > 0 && this.#keptUp) {
        this.#dropListed()
        return
      }
      const listed = this.#listed
      this.#closeArena()
      this.#arena = this.registration.createArena()
      this.takeIn(listed)
      if (this.#status.state !== 'filling') return
    }
    this.#arena?.setReady(false)
    this.#guard((arena) => {
      const replacement = this.#replacement ?? arena.beginReplace()
      this.#replacement = undefined
      replacement.finish(revision)
      arena.publish(revision)
    }, this.#takenIn)
  }

  /** Takes back what a fill that goes no further has listed. */
  #dropListed(): void {
    this.#listed = []
    this.#takenIn = 0
    this.#replacement?.abandon()
    this.#replacement = undefined
  }

  /** Applies the changes after `listRevision` that were kept back, and opens the resource to readers. */
  filled(listRevision: number): void {
    const held = this.#held
    this.#held = []
    if (this.#status.state !== 'filling') return
    const keptPartial = this.#partial
    const [missing] = this.#missing
    if (missing === undefined) this.#setStatus({ state: 'ready' })
    else this.#fallPartially(...missing)
    for (const change of held) {
      if (change.revision <= listRevision) continue
      if (keptPartial) this.#note(change)
      else if (this.apply(change)) this.publish(change.revision)
    }
    if (this.status.state === 'ready') this.#arena?.setReady(true)
  }

  /** Takes one change of the live stream; gives true when publish() has to follow. */
  apply(change: Change): boolean {
    switch (this.#status.state) {
      case 'filling':
        this.#held.push(change)
        if (this.#held.length > MAX_HELD_CHANGES) this.#generation++
        return this.#partial && this.#keptUp && this.#write(change)
      case 'ready':
        return this.#write(change)
      case 'fallen':
        this.#note(change)
        return this.#partial && this.#write(change)
      case 'closed':
        return false
    }
  }

  /**
   * True when the reason of the fall is gone: every unreadable object was replaced or deleted, or enough objects were
   * deleted.
   */
  get repaired(): boolean {
    if (this.#status.state !== 'fallen') return false
    return this.#status.reason === 'memory-limit' ? this.#deletionsToCome <= 0 : this.#unreadable.size === 0
  }

  publish(revision: number): void {
    if (this.#status.state === 'ready' || this.#partial) this.#guard((arena) => arena.publish(revision))
  }

  /**
   * Notes an object of the list that cannot be read. Either the object is broken, and the others are wanted
   * nevertheless; or the service that has its key cannot be asked, which is no reason to give up what followers know of
   * the objects.
   */
  cannotRead(error: Error, key: string): void {
    if (this.#status.state !== 'filling') return
    if (isCorruptObject(error)) {
      this.#missing.set(key, error)
      return
    }
    if (!this.#partial || !this.#keptUp) this.#closeArena()
    this.#held = []
    this.#unreadable.clear()
    this.#unreadable.add(key)
    this.#fall('key-service', error, key)
  }

  #fallPartially(key: string, error: Error): void {
    this.#unreadable.clear()
    for (const missing of this.#missing.keys()) this.#unreadable.add(missing)
    this.#unreadable.add(key)
    this.#partial = true
    this.#arena?.setPartial()
    this.#fall(isCorruptObject(error) ? 'corrupt-object' : 'key-service', error, key)
  }

  #outgrow(error: Error, objects: number): void {
    this.#closeArena()
    this.#held = []
    this.#unreadable.clear()
    this.#deletionsToCome = Math.max(1, Math.ceil(objects * SHRUNK_PART))
    this.#fall('memory-limit', error)
  }

  #fall(reason: FallbackReason, error: Error, key?: string): void {
    const { resource } = this.registration
    this.#logger.warn({ resource, reason, key, error }, 'the resource is read from its storage, not from memory')
    this.#setStatus({ state: 'fallen', reason, message: error.message })
  }

  /**
   * Counts a change towards the end of the fall: an unreadable object was replaced or deleted, or there is one object
   * less to fit.
   */
  #note({ key, draft }: Change): void {
    if (draft instanceof Error) this.#unreadable.add(key)
    else this.#unreadable.delete(key)
    if (draft === undefined) this.#deletionsToCome--
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
      if (this.#status.state === 'ready') this.#fallPartially(change.key, draft)
      return false
    }
    return this.#guard((arena) => {
      if (draft === undefined) arena.delete(change.key, change.revision)
      else arena.put(change.key, draft, change.revision, change.createRevision)
    })
  }

  /**
   * Writes to the arena; false when the arena cannot take more. That ends the caching of this resource and of no other.
   */
  #guard(write: (arena: ArenaWriter) => void, objects?: number): boolean {
    const arena = this.#arena
    assert(arena !== undefined, 'a resource without an arena is not written')
    try {
      write(arena)
      return true
    } catch (error) {
      if (!(error instanceof Error) || error instanceof AssertionError) throw error
      this.#outgrow(error, objects ?? arena.memory().objects)
      return false
    }
  }

  #closeArena(): void {
    this.#arena?.setReady(false)
    this.#arena?.close()
    this.#arena = undefined
    this.#listed = []
    this.#replacement = undefined
    this.#partial = false
  }

  #setStatus(status: ResourceStatus): void {
    if (status.state === this.#status.state && status.state !== 'fallen') return
    this.#status = status
    this.#onStatus(this.registration.resource, status)
  }
}

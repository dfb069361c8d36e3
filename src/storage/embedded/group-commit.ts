/**
 * Thread: owner. Many writes, one sync. Commands wait while a commit is at work and go into the next one together;
 * each is applied to a batch, and learns its result only once the batch is on the disk and has become the snapshot.
 *
 *   idle ──enqueue──▶ scheduled ──end of turn──▶ committing ──synced──▶ idle (or committing what came meanwhile)
 *                                                   └─failed─▶ idle, when the disk holds the old state for certain
 *                                                   └─failed─▶ broken: reads go on, every write is refused
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import { isStorageError, StorageError } from '../contract/errors.js'
import type { Database } from './database.js'
import { type EngineState, Slab } from './records.js'
import type { Snapshot } from './snapshot.js'
import { WriteBatch } from './write-batch.js'

/**
 * The most commands of a commit. Larger ones only add to everybody's wait: 256 writes of 2 KB already take longer than
 * the sync.
 */
const MAX_BATCH_COMMANDS = 512
const MAX_BATCH_BYTES = 4 * 1024 * 1024
/** The most commands that may wait. Beyond it a write is refused at once, before anything is done about it. */
const MAX_QUEUED_COMMANDS = 50_000
const MAX_QUEUED_BYTES = 256 * 1024 * 1024

interface Command {
  readonly bytes: number
  /**
   * Stages the command's writes; gives a function that is called after the commit. Throws to refuse this command alone.
   */
  apply(batch: WriteBatch): () => void
  reject(error: Error): void
}

interface Applied {
  readonly command: Command
  /** Tells the command's result. */
  readonly settle: () => void
}

export interface GroupCommitOptions {
  readonly database: Database
  readonly logger: Logger
  readonly clock: Clock
  /** Told of each commit, once it is on the disk: how many commands were in it, and how long it took. */
  readonly onSynced: (writes: number, durationMs: number) => void
  snapshot(): Snapshot
  /** Makes the batch visible, now that it is durable. */
  onCommit(batch: WriteBatch): void
}

export class GroupCommit {
  readonly #options: GroupCommitOptions
  #queue: Command[] = []
  /** One commit is at work at a time. New buffers for each would be garbage outside of the heap, for which V8 collects all of it. */
  #slab = new Slab()
  #queuedBytes = 0
  #state: 'idle' | 'scheduled' | 'committing' = 'idle'
  #broken: StorageError | undefined
  /** The last commit, of so many bytes, failed for want of space. `bySystem`: the system said that there was none, so it can be asked again. */
  #full: { readonly error: StorageError; readonly bytes: number; readonly bySystem: boolean } | undefined
  #stopping = false
  #stopped: (() => void) | undefined

  constructor(options: GroupCommitOptions) {
    this.#options = options
  }

  enqueue<T>(bytes: number, apply: (batch: WriteBatch) => T): Promise<T> {
    const refusal = this.#refusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({
        bytes,
        apply(batch) {
          const result = apply(batch)
          return () => resolve(result)
        },
        reject,
      })
      this.#queuedBytes += bytes
      this.#schedule()
    })
  }

  /** Everything enqueued so far is still written; later commands are refused. */
  stop(): Promise<void> {
    this.#stopping = true
    return new Promise((resolve) => {
      this.#stopped = resolve
      if (this.#state === 'idle') resolve()
    })
  }

  /**
   * Why writes fail, until one succeeds or the disk has room again. `isFinal`: none is taken any more before a restart.
   */
  problem(): { readonly error: StorageError; readonly isFinal: boolean } | undefined {
    if (this.#broken !== undefined) return { error: this.#broken, isFinal: true }
    if (this.#full?.bySystem === true && this.#options.database.hasRoom(this.#full.bytes)) this.#full = undefined
    return this.#full && { error: this.#full.error, isFinal: false }
  }

  #refusal(): StorageError | undefined {
    if (this.#broken !== undefined) return this.#broken
    if (this.#stopping) return new StorageError('not-ready', 'the embedded engine is closed')
    if (this.#queue.length >= MAX_QUEUED_COMMANDS || this.#queuedBytes >= MAX_QUEUED_BYTES)
      return new StorageError('not-ready', 'too many writes are waiting for the disk', { retryAfterSeconds: 1 })
    return undefined
  }

  #schedule(): void {
    if (this.#state !== 'idle') return
    this.#state = 'scheduled'
    // Scheduled with setImmediate and not as a microtask, so that writers that were woken in this turn enqueue first,
    // however many awaits they are deep.
    setImmediate(() => void this.#commit())
  }

  /**
   * Commits for as long as commands come. The next commit is handed to LMDB before those of the last one are told: the disk works
   * while they are brought into memory and answered.
   */
  async #commit(): Promise<void> {
    this.#state = 'committing'
    let tell: () => void = () => undefined
    while (this.#queue.length > 0 && this.#broken === undefined) {
      this.#slab.reuse()
      const batch = new WriteBatch(this.#options.snapshot(), this.#slab)
      const applied = this.#apply(batch)
      const written = batch.dirty ? this.#write(batch, applied.length) : undefined
      tell()
      tell = await this.#outcome(batch, applied, written)
      // What did not wait for the disk, or was refused by it at once, would keep everybody else from their turn.
      if (this.#queue.length > 0 && (written === undefined || this.#full !== undefined)) {
        tell()
        tell = () => undefined
        await nextTurn()
      }
    }
    tell()
    this.#state = 'idle'
    if (this.#broken !== undefined) for (const command of this.#takeAll()) command.reject(this.#broken)
    this.#stopped?.()
  }

  #apply(batch: WriteBatch): Applied[] {
    const applied: Applied[] = []
    for (const command of this.#take()) {
      try {
        applied.push({ command, settle: command.apply(batch) })
      } catch (error) {
        command.reject(error as Error)
      }
    }
    return applied
  }

  async #write(batch: WriteBatch, commands: number): Promise<void> {
    const { database, clock, onSynced } = this.#options
    const startedMs = clock.monotonicMs()
    await database.commit(batch.writes, batch.state, batch.slab)
    onSynced(commands, clock.monotonicMs() - startedMs)
  }

  /** Makes the batch visible once it is on the disk; gives what tells its commands so, or what they failed by. */
  async #outcome(
    batch: WriteBatch,
    applied: readonly Applied[],
    written: Promise<void> | undefined,
  ): Promise<() => void> {
    try {
      if (written !== undefined) {
        await written
        this.#full = undefined
        this.#options.onCommit(batch)
      }
      return () => {
        for (const { settle } of applied) settle()
      }
    } catch (error) {
      const failure = this.#afterFailure(error, batch.slab.bytes)
      // Whoever failed may still look at the old one.
      this.#slab = new Slab()
      return () => {
        for (const { command } of applied) command.reject(failure)
      }
    }
  }

  #take(): Command[] {
    let bytes = 0
    let count = 0
    while (count < this.#queue.length && count < MAX_BATCH_COMMANDS && bytes < MAX_BATCH_BYTES)
      bytes += this.#queue[count++]!.bytes
    this.#queuedBytes -= bytes
    return this.#queue.splice(0, count)
  }

  #takeAll(): Command[] {
    this.#queuedBytes = 0
    return this.#queue.splice(0)
  }

  /** Goes on only when LMDB still works and the disk is known to hold exactly the state of the snapshot. */
  #afterFailure(error: unknown, bytes: number): StorageError {
    const failure = isStorageError(error) ? error : new StorageError('unreachable', String(error), { cause: error })
    try {
      if (isStorageError(failure, 'no-space') && same(this.#options.database.probe(), this.#options.snapshot().state)) {
        // A client that tries again and again need not fill the log too.
        if (this.#full === undefined)
          this.#options.logger.error({ err: failure }, 'a commit failed for want of space; nothing of it was written')
        this.#full = { error: failure, bytes, bySystem: !this.#options.database.hasRoom(bytes) }
        return failure
      }
    } catch (cause) {
      this.#options.logger.error({ err: cause }, 'LMDB takes no more transactions')
    }
    this.#broken = new StorageError(
      'unreachable',
      `the embedded engine takes no more writes after a failed commit: ${failure.message}`,
      { cause: failure },
    )
    this.#options.logger.error({ err: failure }, 'a commit failed; the embedded engine takes no more writes')
    return this.#broken
  }
}

function same(a: EngineState, b: EngineState): boolean {
  return (
    a.revision === b.revision && a.compacted === b.compacted && a.pruned === b.pruned && a.lastLease === b.lastLease
  )
}

/**
 * Thread: main. The bytes of a list in JSON: a head, bodies with commas between them, a tail; made piece by piece as
 * the client takes them. The bodies lie in shared memory, and a pin on their state keeps everything that is replaced
 * meanwhile. So a list holds its pin only for as long as a client that reads needs:
 *
 *   pinned ──every piece is made──▶ made
 *     │ unpin()
 *     ├──the rest fits into what may be copied──▶ copied ──▶ made
 *     └──it does not──▶ reopened, at its exact revision for each piece ──▶ made
 *                          └──the window has passed it──▶ lost
 */
import { copyBytes } from '../../cacher/memory/shared-copier.js'
import type { RecordView } from '../../cacher/memory/shared-memory.js'
import type { CopyBudget } from './copy-budget.js'

const TAIL = Buffer.from(']}\n')
const COMMA = 44
const BRACE = 123
/** The size of a piece: large enough to cost few calls, small enough to let others go in between. */
const PIECE_BYTES = 64 * 1024
/** The size of a piece of a reopened list, which is the memory that a slow reader costs. */
const SMALL_PIECE_BYTES = 16 * 1024
const NOTHING = new Uint8Array(0)

/** Every so many objects a list remembers a key, from which it finds its place again. */
export const MARK_INTERVAL = 64

/** A state in shared memory, and the way back to it. */
export interface ListState {
  /** Gives up the pin; called once. */
  release(): void
  /** The keys of the objects 0, MARK_INTERVAL, 2 × MARK_INTERVAL, … */
  readonly marks: readonly string[]
  /**
   * Visits the records that are listed, from a key on, until the visitor returns false; the state is let go before it
   * returns. False: the state is in memory no longer.
   */
  reopen(startKey: string, visit: (record: RecordView) => boolean): boolean
}

export interface ListBodyOptions {
  readonly head: Uint8Array
  readonly bodies: readonly Uint8Array[]
  /** How many bytes at the start of a body are left out, beside its brace. */
  readonly skip: (body: Uint8Array) => number
  /** The state that the bodies lie in; undefined when they are this thread's own. */
  readonly state: ListState | undefined
}

export type UnpinOutcome = 'copied' | 'reopened'

export class ListBody {
  readonly totalBytes: number
  readonly #head: Uint8Array
  readonly #count: number
  readonly #skip: (body: Uint8Array) => number
  #state: ListState | undefined
  #pinned: boolean
  #bodies: readonly Uint8Array[] | undefined
  #skips: readonly number[]
  #buffer: Buffer
  /** How many bytes of the buffer are filled. */
  #filled = 0
  /** The part that is being written (-1 is the head, #count the tail), and how many of its bytes have been. */
  #part = -1
  #offset = 0
  #madeBytes = 0
  /** A reopened list goes on at this key, and then skips so many records. */
  #key = ''
  #toSkip = 0
  #copies: Uint8Array[] | undefined
  #budget: CopyBudget | undefined
  #copiedBytes = 0

  constructor({ head, bodies, skip, state }: ListBodyOptions) {
    this.#head = head
    this.#count = bodies.length
    this.#bodies = bodies
    this.#skip = skip
    this.#skips = bodies.map(skip)
    this.#state = state
    this.#pinned = state !== undefined
    // `length` in here, not `byteLength`: ServedResource.itemSkip says why.
    let total = head.length + TAIL.length + Math.max(0, bodies.length - 1)
    for (const [i, body] of bodies.entries()) total += body.length - this.#skips[i]!
    this.totalBytes = total
    this.#buffer = Buffer.allocUnsafe(Math.min(total, PIECE_BYTES))
  }

  /** True once every piece is made, so that shared memory is no longer read. */
  get made(): boolean {
    return this.#part > this.#count
  }

  /** The next piece, valid until the following call; undefined at the end, and when the rest is lost. */
  next(): Uint8Array | undefined {
    if (this.#copies !== undefined) return this.#nextCopy(this.#copies)
    if (this.made) return undefined
    this.#filled = 0
    if (this.#bodies !== undefined) this.#fill(this.#bodies)
    else if (!this.#reopenAndFill()) return undefined
    this.#madeBytes += this.#filled
    if (this.made) this.#letGo()
    return this.#buffer.subarray(0, this.#filled)
  }

  /** Gives up the pin and goes on without it; undefined when the list holds none. */
  unpin(budget: CopyBudget): UnpinOutcome | undefined {
    if (!this.#pinned) return undefined
    const restBytes = this.totalBytes - this.#madeBytes
    if (budget.take(restBytes)) {
      const copies: Uint8Array[] = []
      // Each piece gets memory of its own: the one before is still on its way.
      for (let left = restBytes; left > 0; left -= this.#filled) {
        this.#buffer = Buffer.allocUnsafe(Math.min(left, PIECE_BYTES))
        copies.push(this.next()!)
      }
      this.#budget = budget
      this.#copies = copies
      return 'copied'
    }
    const at = Math.max(0, this.#part)
    this.#key = this.#state!.marks[Math.floor(at / MARK_INTERVAL)] ?? ''
    this.#toSkip = at % MARK_INTERVAL
    this.#buffer = Buffer.allocUnsafe(SMALL_PIECE_BYTES)
    this.#letGo()
    return 'reopened'
  }

  /** Called when no further piece will be asked for. */
  finish(): void {
    this.#letGo()
    this.#state = undefined
    this.#giveBack()
    for (const copy of this.#copies ?? []) this.#budget!.give(copy.byteLength)
    this.#copies = undefined
  }

  /** Gives up the pin and the views, which would keep memory that the owner has freed. */
  #letGo(): void {
    this.#bodies = undefined
    this.#skips = []
    if (this.#pinned) this.#state!.release()
    this.#pinned = false
  }

  #nextCopy(copies: Uint8Array[]): Uint8Array | undefined {
    this.#giveBack()
    const copy = copies.shift()
    this.#copiedBytes = copy?.byteLength ?? 0
    return copy
  }

  #giveBack(): void {
    if (this.#copiedBytes > 0) this.#budget!.give(this.#copiedBytes)
    this.#copiedBytes = 0
  }

  #fill(bodies: readonly Uint8Array[]): void {
    if (this.#part < 0 && !this.#append(this.#head, 0)) return
    while (this.#part < this.#count) if (!this.#append(bodies[this.#part]!, this.#skips[this.#part]!)) return
    this.#append(TAIL, 0)
  }

  /** Fills the buffer from the reopened state; false when the state is lost. */
  #reopenAndFill(): boolean {
    if (this.#part < 0 && !this.#append(this.#head, 0)) return true
    if (this.#part < this.#count) {
      const visit = (record: RecordView): boolean => {
        if (this.#toSkip > 0) {
          this.#toSkip--
          return true
        }
        const body = record.body()
        if (this.#append(body, this.#skip(body))) return this.#part < this.#count
        this.#key = record.key
        return false
      }
      if (!this.#state!.reopen(this.#key, visit)) return false
    }
    if (this.#part === this.#count) this.#append(TAIL, 0)
    return this.#filled > 0
  }

  /** Appends the rest of the part, as far as there is room; true when all of it is in the buffer. */
  #append(body: Uint8Array, skip: number): boolean {
    const buffer = this.#buffer
    const commaBytes = this.#part > 0 && this.#part < this.#count ? 1 : 0
    const prefixBytes = commaBytes + (skip > 0 ? 1 : 0)
    let at = this.#filled
    let offset = this.#offset
    for (; offset < prefixBytes && at < buffer.length; offset++) buffer[at++] = offset < commaBytes ? COMMA : BRACE
    let whole = false
    if (offset >= prefixBytes) {
      const from = (skip > 0 ? skip + 1 : 0) + offset - prefixBytes
      const bytes = Math.min(body.length - from, buffer.length - at)
      whole = from + bytes === body.length
      const rest = from === 0 && whole ? body : bytes === 0 ? NOTHING : body.subarray(from, from + bytes)
      copyBytes(rest, buffer, at)
      at += bytes
      offset += bytes
    }
    this.#filled = at
    this.#offset = whole ? 0 : offset
    if (whole) this.#part++
    return whole
  }
}

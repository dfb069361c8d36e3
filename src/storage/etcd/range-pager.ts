/**
 * Thread: any. Chooses how many keys to ask for, so that a reply stays near a size that is cheap to hold. Objects
 * differ by four orders of magnitude, so it learns from each reply and is corrected by replies that were refused.
 */
const TARGET_REPLY_BYTES = 2 * 1024 * 1024
/** A larger reply is refused unread, unless it is for a single object. */
export const MAX_REPLY_BYTES = 4 * 1024 * 1024
/** The first guess: the limit that clients ask for most, and a good one for objects of 4 KB. */
const FIRST_PAGE_KEYS = 500
const MAX_PAGE_KEYS = 10_000
/** The most by which a page grows: small objects at the start must not make the next page one of 10,000 large ones. */
const MAX_GROWTH = 8

export class RangePager {
  #keys: number

  constructor(keysOnly: boolean) {
    this.#keys = keysOnly ? MAX_PAGE_KEYS : FIRST_PAGE_KEYS
  }

  /** The limit of the next request; `wanted` is 0 when all keys are wanted. */
  limit(wanted: number): number {
    return wanted === 0 ? this.#keys : Math.min(this.#keys, wanted)
  }

  received(keys: number, bytes: number): void {
    if (keys === 0) return
    const fitting = Math.floor(TARGET_REPLY_BYTES / Math.max(1, bytes / keys))
    this.#keys = clamp(Math.min(fitting, keys * MAX_GROWTH))
  }

  /** Learns that the reply to a request for `keys` keys would have had `bytes` bytes. */
  refused(keys: number, bytes: number): void {
    this.#keys = clamp(Math.min(Math.floor(keys / 2), Math.floor((keys * TARGET_REPLY_BYTES) / bytes)))
  }
}

const clamp = (keys: number): number => Math.min(MAX_PAGE_KEYS, Math.max(1, keys))

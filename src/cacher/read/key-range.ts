/** Thread: any. The keys that a list or a watch is about. */
import { prefixEnd } from '../../storage/contract/kv.js'

export interface KeyRange {
  readonly startKey: string
  /** The first key after the range. */
  readonly endKey: string
}

/** `key` as the store has it: the prefix of everything wanted, or the key of the one object. */
export function keyRange(key: string, recursive: boolean): KeyRange {
  return { startKey: key, endKey: recursive ? prefixEnd(key) : `${key}\0` }
}

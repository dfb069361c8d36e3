/** What the writer and the reader threads of the load test agree on. */
import type { MemoryReader } from '#keelson/cacher/memory/memory-reader.js'
import type { RecordDraft } from '#keelson/protocol/record-draft.js'

export const ARENAS = ['pods', 'secrets', 'leases']
export const NAMES = 600

export type Handoff = Parameters<typeof MemoryReader.open>[0]

/** Shared by all: for each arena and revision a hash of the state; and how far each reader is. */
export interface LoadShare {
  readonly hashes: SharedArrayBuffer
  readonly progress: SharedArrayBuffer
  readonly revisions: number
}

export interface ReaderReport {
  readonly lists: number
  readonly exactLists: number
  readonly tooOld: number
  readonly gets: number
  readonly events: number[]
  readonly pins: number
  readonly problems: string[]
}

export function keyOf(arena: string, n: number): string {
  return `/registry/${arena}/ns-${n % 7}/name-${n}`
}

export function fnv(bytes: ArrayLike<number>, start: number, end: number, seed = 0x811c9dc5): number {
  let hash = seed
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  return hash
}

/** An object's share in the hash of its state: states are compared by the exclusive or of all of them. */
export function stateHash(key: string, modRevision: number): number {
  const bytes = Buffer.from(key)
  return Math.imul(fnv(bytes, 0, bytes.length) ^ modRevision, 0x9e3779b1) ^ (modRevision << 7)
}

const HEAD = '{"resourceVersion":"'

/** {"resourceVersion":"…","sum":"8 hex digits","data":"…"}: the sum is over the key and the data. */
export function checkedDraft(key: string, size: number, letter: number): RecordDraft {
  const data = Buffer.alloc(size, 97 + (letter % 26))
  const keyBytes = Buffer.from(key)
  const sum = fnv(data, 0, size, fnv(keyBytes, 0, keyBytes.length)) >>> 0
  const body = Buffer.from(`${HEAD}","sum":"${sum.toString(16).padStart(8, '0')}","data":"${data.toString()}"}`)
  return {
    uid: `uid ${key}`,
    labels: ['letter', String(letter)],
    fields: ['key', key],
    body,
    revisionOffset: HEAD.length,
  }
}

/** Empty when the body is whole and belongs to the key and the revision. */
export function checkBody(body: Uint8Array, key: string, modRevision: number): string {
  const digits = String(modRevision)
  const at = HEAD.length + digits.length
  const head = Buffer.from(body.slice(0, at + 26)).toString()
  if (!head.startsWith(`${HEAD}${digits}","sum":"`)) return `${key}@${modRevision} has the body ${head}`
  const keyBytes = Buffer.from(key)
  const sum = fnv(body, at + 27, body.length - 2, fnv(keyBytes, 0, keyBytes.length)) >>> 0
  const stated = Number.parseInt(head.slice(at + 9, at + 17), 16)
  return sum === stated ? '' : `${key}@${modRevision} is torn: ${sum} is not ${stated}`
}

/**
 * Thread: any. Plain JSON trees: telling kinds apart, equality, copies. A key may be any text, `__proto__` too, so members
 * are read with `ownValue` and written with `setMember` wherever the key comes from a client.
 */
import type { Json, JsonObject } from '../../../api/object.js'
import { badRequest } from './patch-error.js'

/** Deeper trees are refused: every walk here recurses, and no Kubernetes type is a hundredth as deep. */
export const MAX_DEPTH = 1000

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function ownValue(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

export function setMember(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}

/** An object with the same members; the members themselves are shared. */
export function shallowCopy(object: JsonObject): JsonObject {
  return { ...object }
}

/** Equal as JSON values: numbers by value whichever way they are held, objects without regard to order. */
export function jsonEqual(a: Json | undefined, b: Json | undefined, depth = 0): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    if (typeof a === 'bigint' && typeof b === 'number') return Number.isInteger(b) && BigInt(b) === a
    if (typeof a === 'number' && typeof b === 'bigint') return Number.isInteger(a) && BigInt(a) === b
    return false
  }
  if (a === undefined || b === undefined) return false
  if (depth > MAX_DEPTH) throw tooDeep()
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!jsonEqual(a[i], b[i], depth + 1)) return false
    return true
  }
  if (Array.isArray(b)) return false
  let count = 0
  for (const key of Object.keys(a)) {
    if (a[key] === undefined) continue
    count++
    if (!jsonEqual(a[key], ownValue(b, key), depth + 1)) return false
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined) count--
  return count === 0
}

/** The bytes of the value as JSON text, near enough for a limit. */
export function jsonLength(value: Json | undefined, depth = 0): number {
  if (value === undefined) return 0
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return String(value).length
  if (depth > MAX_DEPTH) throw tooDeep()
  let length = 2
  if (Array.isArray(value)) for (const item of value) length += jsonLength(item, depth + 1) + 1
  else for (const key of Object.keys(value)) length += key.length + 4 + jsonLength(value[key], depth + 1)
  return length
}

/** Refuses a tree that is too deep when it stands at this depth; does not recurse itself. */
export function assertDepth(value: Json, at = 0): void {
  if (typeof value !== 'object' || value === null) return
  let level: Json[] = [value]
  for (let depth = at; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw tooDeep()
    const next: Json[] = []
    for (const node of level) {
      if (typeof node !== 'object' || node === null) continue
      for (const member of Array.isArray(node) ? node : Object.values(node))
        if (typeof member === 'object' && member !== null) next.push(member)
    }
    level = next
  }
}

/**
 * How high trees are, for one who changes them: each container is walked once, however often it is asked for, and whoever puts
 * something into one says so. What is taken out is not noticed: a height is one that the tree does not exceed.
 */
export class TreeHeights {
  readonly #known = new Map<Json, number>()

  /** The levels of containers below the value; -1 for a scalar. Throws when there are too many. */
  of(value: Json, depth = 0): number {
    if (typeof value !== 'object' || value === null) return -1
    const known = this.#known.get(value)
    if (known !== undefined) return known
    if (depth > MAX_DEPTH) throw tooDeep()
    let height = 0
    for (const member of Array.isArray(value) ? value : Object.values(value))
      if (typeof member === 'object' && member !== null) height = Math.max(height, 1 + this.of(member, depth + 1))
    this.#known.set(value, height)
    return height
  }

  /** The container is at least so high now. */
  raise(container: Json, height: number): void {
    const known = this.#known.get(container)
    if (known !== undefined && known < height) this.#known.set(container, height)
  }

  /** The copy is as high as what it was made of. */
  copied(from: Json, to: Json): void {
    const known = this.#known.get(from)
    if (known !== undefined) this.#known.set(to, known)
  }
}

export function tooDeep(): Error {
  return badRequest(`error decoding patch: exceeded max depth of ${MAX_DEPTH}`)
}

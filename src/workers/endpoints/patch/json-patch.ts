/**
 * Thread: any. JSON patch (RFC 6902), with the leniences of the library that kube-apiserver uses, because clients have come
 * to rely on them: `replace` sets a member that is not there, `copy` of such a member and a missing `value` mean null,
 * negative indices count from the end, and only `replace` and `test` reach the whole document.
 */
import type { Json, JsonObject } from '../../../api/object.js'
import { parseIndex, parsePointer } from './json-pointer.js'
import {
  isObject,
  jsonEqual,
  jsonLength,
  MAX_DEPTH,
  ownValue,
  setMember,
  shallowCopy,
  TreeHeights,
  tooDeep,
} from './json-tree.js'
import { badRequest, PatchError, PatchTestError, unprocessable } from './patch-error.js'

/** The limit of kube-apiserver. */
export const MAX_OPERATIONS = 10_000

/** The most bytes that `copy` may add in one patch: as many as a whole request may hold. */
export const MAX_COPIED_BYTES = 3 * 1024 * 1024

interface Operation {
  readonly op: string
  /** Whether the path is empty, and means the whole document. */
  readonly whole: boolean
  readonly path: readonly string[]
  readonly from: readonly string[] | undefined
  /** The value of the operation; null when it has none. */
  readonly value: Json
}

/** The document with the patch applied; neither argument is changed. */
export function applyJsonPatch(document: Json, patch: Json): Json {
  if (patch === null) return document
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: a JSON patch is an array of operations')
  for (const operation of patch) checkShape(operation)
  if (patch.length > MAX_OPERATIONS) {
    const told = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`
    throw new PatchError('PatchTooLarge', told)
  }
  const run = new JsonPatchRun(document)
  for (const operation of patch) run.apply(readOperation((operation ?? {}) as JsonObject))
  return run.root
}

/** Refuses operations that Go's decoder would refuse with 400; a wrong but well-formed one is 422. */
function checkShape(operation: Json): void {
  if (operation === null) return
  if (!isObject(operation)) throw badRequest('error decoding patch: an operation of a JSON patch is an object')
  for (const key of ['op', 'path', 'from']) {
    const value = ownValue(operation, key)
    if (value !== undefined && value !== null && typeof value !== 'string')
      throw badRequest(`error decoding patch: "${key}" of an operation is a string`)
  }
}

function readOperation(operation: JsonObject): Operation {
  const op = ownValue(operation, 'op')
  const path = ownValue(operation, 'path')
  const from = ownValue(operation, 'from')
  if (typeof op !== 'string') throw unprocessable('an operation needs "op"')
  if (typeof path !== 'string') throw unprocessable('an operation needs "path"')
  return {
    op,
    whole: path === '',
    path: parsePointer(path),
    from: typeof from === 'string' ? parsePointer(from) : undefined,
    value: ownValue(operation, 'value') ?? null,
  }
}

/**
 * One patch on its way through a document. Nothing given is changed: containers are copied before the first change in them,
 * and only those; the rest is shared with the document, the patch and copies.
 */
class JsonPatchRun {
  root: Json
  /** Containers that belong to this run alone, and stand in one place: those above such a one are of them too. */
  readonly #own = new Set<Json>()
  readonly #heights = new TreeHeights()
  #copiedBytes = 0

  constructor(root: Json) {
    this.root = root
  }

  apply(operation: Operation): void {
    const { op, whole, path, value } = operation
    if (op === 'add') this.#add(path, value)
    else if (op === 'remove') this.#remove(path)
    else if (op === 'replace') this.#replace(path, whole, value)
    else if (op === 'move') this.#add(path, this.#remove(requiredFrom(operation)))
    else if (op === 'copy') this.#copy(requiredFrom(operation), path)
    else if (op === 'test') this.#test(path, whole, value)
    else throw unprocessable(`unexpected operation ${JSON.stringify(op)}`)
  }

  #add(path: readonly string[], value: Json): void {
    const height = this.#heightAt(path, value)
    const parent = this.#ownParent(path, height)
    const token = lastOf(path)
    if (!Array.isArray(parent)) {
      setMember(parent, token, value)
      return
    }
    const index = token === '-' ? parent.length : parseIndex(token, parent.length + 1)
    if (index === undefined) throw missing(path)
    parent.splice(index, 0, value)
  }

  #remove(path: readonly string[]): Json {
    const removed = this.#get(path)
    if (removed === undefined) throw missing(path)
    const parent = this.#ownParent(path)
    const token = lastOf(path)
    if (Array.isArray(parent)) parent.splice(parseIndex(token, parent.length)!, 1)
    else delete parent[token]
    return removed
  }

  /** The height of a value that is to stand there. Throws when the document would be too deep. */
  #heightAt(path: readonly string[], value: Json): number {
    const height = this.#heights.of(value)
    if (height >= 0 && path.length + height > MAX_DEPTH) throw tooDeep()
    return height
  }

  #replace(path: readonly string[], whole: boolean, value: Json): void {
    const height = this.#heightAt(path, value)
    if (whole) {
      if (typeof value !== 'object' || value === null) throw unprocessable('a document is an object or an array')
      this.root = value
      return
    }
    const parent = this.#ownParent(path, height)
    const token = lastOf(path)
    if (!Array.isArray(parent)) {
      setMember(parent, token, value)
      return
    }
    const index = parseIndex(token, parent.length)
    if (index === undefined) throw missing(path)
    parent[index] = value
  }

  #copy(from: readonly string[], path: readonly string[]): void {
    const container = this.#parent(from)
    const found = this.#get(from)
    if (found === undefined && Array.isArray(container)) throw missing(from)
    const value = found ?? null
    this.#copiedBytes += jsonLength(value)
    if (this.#copiedBytes > MAX_COPIED_BYTES) throw unprocessable(`more than ${MAX_COPIED_BYTES} bytes copied`)
    // From now on the value stands in two places, so that nothing in it belongs to one alone.
    this.#disown(value)
    this.#add(path, value)
  }

  /** A member that is absent passes a test for null: clients use it to say "not set yet". */
  #test(path: readonly string[], whole: boolean, value: Json): void {
    const parent = whole ? undefined : this.#parent(path)
    const found = whole ? this.root : this.#get(path)
    if (found === undefined && value === null && isObject(parent)) return
    if (found === undefined || !jsonEqual(found, value)) throw new PatchTestError(`test failed at ${pointerText(path)}`)
  }

  #get(path: readonly string[]): Json | undefined {
    let value: Json | undefined = this.root
    for (const token of path) {
      if (Array.isArray(value)) {
        const index = parseIndex(token, value.length)
        value = index === undefined ? undefined : value[index]
      } else if (isObject(value)) value = ownValue(value, token)
      else return undefined
    }
    return value
  }

  #parent(path: readonly string[]): JsonObject | Json[] {
    const parent = path.length === 0 ? undefined : this.#get(path.slice(0, -1))
    if (typeof parent !== 'object' || parent === null) throw missing(path)
    return parent
  }

  /**
   * The container that holds the last token; it and all above it are copied first. What is put there has this height: -1, nothing
   * that counts.
   */
  #ownParent(path: readonly string[], height = -1): JsonObject | Json[] {
    this.#parent(path)
    let container = this.#owned(this.root)
    this.root = container
    this.#heights.raise(container, path.length + height)
    for (const [i, token] of path.slice(0, -1).entries()) {
      if (Array.isArray(container)) {
        const index = parseIndex(token, container.length)!
        const child: JsonObject | Json[] = this.#owned(container[index]!)
        container[index] = child
        container = child
      } else {
        const child: JsonObject | Json[] = this.#owned(ownValue(container, token)!)
        setMember(container, token, child)
        container = child
      }
      this.#heights.raise(container, path.length - i - 1 + height)
    }
    return container
  }

  #owned(value: Json): JsonObject | Json[] {
    const container = value as JsonObject | Json[]
    if (this.#own.has(container)) return container
    const copy = Array.isArray(container) ? [...container] : shallowCopy(container)
    this.#own.add(copy)
    this.#heights.copied(container, copy)
    return copy
  }

  /** Containers in one that is not its own are not either, so no more is looked at than has been counted as copied. */
  #disown(value: Json): void {
    if (!this.#own.delete(value)) return
    for (const member of Object.values(value as Record<string, Json>)) this.#disown(member)
  }
}

function requiredFrom(operation: Operation): readonly string[] {
  if (operation.from === undefined) throw unprocessable(`operation ${operation.op} needs "from"`)
  return operation.from
}

function lastOf(path: readonly string[]): string {
  const token = path.at(-1)
  if (token === undefined) throw missing(path)
  return token
}

function missing(path: readonly string[]): PatchError {
  return unprocessable(`path ${pointerText(path)} does not exist`)
}

function pointerText(path: readonly string[]): string {
  return JSON.stringify(path.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''))
}

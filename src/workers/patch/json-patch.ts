/** Thread: any. JSON patch (RFC 6902). */
import type { Json, JsonObject } from '../../api/object.js'
import { parseIndex, parsePointer } from './json-pointer.js'
import { assertDepth, isObject, jsonEqual, jsonLength, ownValue, setMember, shallowCopy } from './json-tree.js'
import { badRequest, PatchError, unprocessable } from './patch-error.js'

/** As kube-apiserver limits it. */
export const MAX_OPERATIONS = 10_000

/** What `copy` may add in one patch: as much as a whole request may hold. */
export const MAX_COPIED_BYTES = 3 * 1024 * 1024

interface Operation {
  readonly op: string
  readonly path: readonly string[]
  readonly from: readonly string[] | undefined
  readonly value: Json | undefined
}

/** The document with the patch applied; neither argument is changed. */
export function applyJsonPatch(document: Json, patch: Json): Json {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: a JSON patch is an array of operations')
  for (const operation of patch) checkShape(operation)
  if (patch.length > MAX_OPERATIONS) {
    const told = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`
    throw new PatchError('PatchTooLarge', told)
  }
  const run = new JsonPatchRun(document)
  for (const operation of patch) run.apply(readOperation(operation as JsonObject))
  return run.root
}

/** What Go's decoder would refuse: 400, where a wrong but well-formed operation is 422. */
function checkShape(operation: Json): void {
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
    path: parsePointer(path),
    from: typeof from === 'string' ? parsePointer(from) : undefined,
    value: ownValue(operation, 'value'),
  }
}

/**
 * One patch on its way through a document. Nothing given is changed: containers are copied before the first change in them,
 * and only those; the rest is shared with the document, the patch and copies.
 */
class JsonPatchRun {
  root: Json
  /** Containers that belong to this run alone. */
  #own = new Set<Json>()
  #copiedBytes = 0

  constructor(root: Json) {
    this.root = root
  }

  apply(operation: Operation): void {
    const { op, path } = operation
    if (op === 'add') this.#add(path, requiredValue(operation))
    else if (op === 'remove') this.#remove(path)
    else if (op === 'replace') this.#replace(path, requiredValue(operation))
    else if (op === 'move') this.#move(requiredFrom(operation), path)
    else if (op === 'copy') this.#copy(requiredFrom(operation), path)
    else if (op === 'test') this.#test(path, operation.value ?? null)
    else throw unprocessable(`unexpected operation ${JSON.stringify(op)}`)
  }

  #add(path: readonly string[], value: Json): void {
    assertDepth(value, path.length)
    const token = path.at(-1)
    if (token === undefined) {
      this.root = value
      return
    }
    const parent = this.#ownParent(path)
    if (!Array.isArray(parent)) {
      setMember(parent, token, value)
      return
    }
    const index = token === '-' ? parent.length : parseIndex(token)
    if (index === undefined || index > parent.length) throw missing(path)
    parent.splice(index, 0, value)
  }

  #remove(path: readonly string[]): Json {
    const removed = this.#get(path)
    if (removed === undefined) throw missing(path)
    const token = path.at(-1)
    if (token === undefined) throw unprocessable('the whole document cannot be removed')
    const parent = this.#ownParent(path)
    if (Array.isArray(parent)) parent.splice(Number(token), 1)
    else delete parent[token]
    return removed
  }

  #replace(path: readonly string[], value: Json): void {
    if (this.#get(path) === undefined) throw missing(path)
    assertDepth(value, path.length)
    const token = path.at(-1)
    if (token === undefined) {
      this.root = value
      return
    }
    const parent = this.#ownParent(path)
    if (Array.isArray(parent)) parent[Number(token)] = value
    else setMember(parent, token, value)
  }

  #move(from: readonly string[], path: readonly string[]): void {
    const within = from.every((token, i) => token === path[i])
    if (within && path.length > from.length) throw unprocessable('a value cannot be moved into itself')
    if (!within || path.length < from.length) this.#add(path, this.#remove(from))
    else if (this.#get(from) === undefined) throw missing(from)
  }

  #copy(from: readonly string[], path: readonly string[]): void {
    const value = this.#get(from)
    if (value === undefined) throw missing(from)
    this.#copiedBytes += jsonLength(value)
    if (this.#copiedBytes > MAX_COPIED_BYTES) throw unprocessable(`more than ${MAX_COPIED_BYTES} bytes copied`)
    // From now on two places hold it, and whatever is in it.
    this.#own = new Set()
    this.#add(path, value)
  }

  /** As Kubernetes has it, a member that is absent passes a test for null: clients use it to say "not set yet". */
  #test(path: readonly string[], value: Json): void {
    const found = this.#get(path)
    if (found === undefined && value === null && isObject(this.#parent(path))) return
    if (found === undefined || !jsonEqual(found, value)) throw unprocessable(`test failed at ${pointerText(path)}`)
  }

  #get(path: readonly string[]): Json | undefined {
    let value: Json | undefined = this.root
    for (const token of path) {
      if (Array.isArray(value)) {
        const index = parseIndex(token)
        value = index === undefined ? undefined : value[index]
      } else if (isObject(value)) value = ownValue(value, token)
      else return undefined
    }
    return value
  }

  #parent(path: readonly string[]): JsonObject | Json[] {
    const parent = this.#get(path.slice(0, -1))
    if (typeof parent !== 'object' || parent === null) throw missing(path)
    return parent
  }

  /** The container that holds the last token, and all above it, as copies of our own. */
  #ownParent(path: readonly string[]): JsonObject | Json[] {
    this.#parent(path)
    let container = this.#owned(this.root)
    this.root = container
    for (const token of path.slice(0, -1)) {
      if (Array.isArray(container)) {
        const index = Number(token)
        const child: JsonObject | Json[] = this.#owned(container[index]!)
        container[index] = child
        container = child
      } else {
        const child: JsonObject | Json[] = this.#owned(ownValue(container, token)!)
        setMember(container, token, child)
        container = child
      }
    }
    return container
  }

  #owned(value: Json): JsonObject | Json[] {
    const container = value as JsonObject | Json[]
    if (this.#own.has(container)) return container
    const copy = Array.isArray(container) ? [...container] : shallowCopy(container)
    this.#own.add(copy)
    return copy
  }
}

function requiredValue(operation: Operation): Json {
  if (operation.value === undefined) throw unprocessable(`operation ${operation.op} needs "value"`)
  return operation.value
}

function requiredFrom(operation: Operation): readonly string[] {
  if (operation.from === undefined) throw unprocessable(`operation ${operation.op} needs "from"`)
  return operation.from
}

function missing(path: readonly string[]): PatchError {
  return unprocessable(`path ${pointerText(path)} does not exist`)
}

function pointerText(path: readonly string[]): string {
  return JSON.stringify(path.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''))
}

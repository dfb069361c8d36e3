/** Thread: any. JSON patch (RFC 6902). */
import type { Json, JsonObject } from '../../api/object.js'
import { parseIndex, parsePointer } from './json-pointer.js'
import { assertDepth, deepCopy, isObject, jsonEqual, jsonLength, ownValue, setMember } from './json-tree.js'
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
  const run = new JsonPatchRun(deepCopy(document))
  for (const operation of patch) run.apply(readOperation(operation as JsonObject))
  assertDepth(run.root)
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

/** One patch on its way through a document of its own. */
class JsonPatchRun {
  root: Json
  #copiedBytes = 0

  constructor(root: Json) {
    this.root = root
  }

  apply(operation: Operation): void {
    const { op, path } = operation
    if (op === 'add') this.#add(path, deepCopy(requiredValue(operation)))
    else if (op === 'remove') this.#remove(path)
    else if (op === 'replace') this.#replace(path, deepCopy(requiredValue(operation)))
    else if (op === 'move') this.#move(requiredFrom(operation), path)
    else if (op === 'copy') this.#copy(requiredFrom(operation), path)
    else if (op === 'test') this.#test(path, operation.value ?? null)
    else throw unprocessable(`unexpected operation ${JSON.stringify(op)}`)
  }

  #add(path: readonly string[], value: Json): void {
    const token = path.at(-1)
    if (token === undefined) {
      this.root = value
      return
    }
    const parent = this.#parent(path)
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
    const parent = this.#parent(path)
    if (Array.isArray(parent)) parent.splice(Number(token), 1)
    else delete parent[token]
    return removed
  }

  #replace(path: readonly string[], value: Json): void {
    if (this.#get(path) === undefined) throw missing(path)
    const token = path.at(-1)
    if (token === undefined) {
      this.root = value
      return
    }
    const parent = this.#parent(path)
    if (Array.isArray(parent)) parent[Number(token)] = value
    else setMember(parent, token, value)
  }

  #move(from: readonly string[], path: readonly string[]): void {
    if (path.length > from.length && from.every((token, i) => token === path[i]))
      throw unprocessable('a value cannot be moved into itself')
    if (path.length === from.length && from.every((token, i) => token === path[i])) {
      if (this.#get(from) === undefined) throw missing(from)
      return
    }
    this.#add(path, this.#remove(from))
  }

  #copy(from: readonly string[], path: readonly string[]): void {
    const value = this.#get(from)
    if (value === undefined) throw missing(from)
    this.#copiedBytes += jsonLength(value)
    if (this.#copiedBytes > MAX_COPIED_BYTES) throw unprocessable(`more than ${MAX_COPIED_BYTES} bytes copied`)
    this.#add(path, deepCopy(value))
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

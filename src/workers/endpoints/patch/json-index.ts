/** Thread: any. Values found by JSON values, equal as `jsonEqual` has it, without a search through all of them. */
import type { Json } from '../../../api/object.js'

export class JsonIndex<T> {
  readonly #scalars = new Map<Json, T>()
  /** Trees by their text with sorted keys: merge keys are scalars, but a client may send anything. */
  readonly #trees = new Map<string, T>()

  get size(): number {
    return this.#scalars.size + this.#trees.size
  }

  get(key: Json): T | undefined {
    return isTree(key) ? this.#trees.get(textOf(key)) : this.#scalars.get(scalarOf(key))
  }

  set(key: Json, value: T): void {
    if (isTree(key)) this.#trees.set(textOf(key), value)
    else this.#scalars.set(scalarOf(key), value)
  }
}

const isTree = (value: Json): value is object & Json => typeof value === 'object' && value !== null

/** The one form of a scalar: a number may have been read in several. */
function scalarOf(value: Json): Json {
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value)
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value
}

function textOf(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`
  if (typeof value !== 'object' || value === null) {
    const scalar = scalarOf(value)
    return typeof scalar === 'bigint' ? `${scalar}` : JSON.stringify(scalar)
  }
  const names = Object.keys(value).filter((name) => value[name] !== undefined)
  return `{${names
    .sort()
    .map((name) => `${JSON.stringify(name)}:${textOf(value[name]!)}`)
    .join(',')}}`
}

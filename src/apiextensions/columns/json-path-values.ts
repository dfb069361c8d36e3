/** Thread: any. What a path finds in an object. A path that does not fit what it meets finds nothing at all. */
import { isJsonObject, type Json } from '../../api/object.js'
import { ownMember } from '../../lib/own-member.js'
import { JsonPathError, type PathNode, type Slice } from './json-path.js'

/** Values that all paths of one row may touch together: descent within descent would multiply without end. */
const MAX_STEPS = 100_000

/** The first value; undefined when there is none, when the path does not fit the object, or when the row has touched too many. */
export function firstValue(path: readonly PathNode[], object: Json, walk = new PathWalk()): Json | undefined {
  try {
    return walk.walk(path, [object])[0]
  } catch (error) {
    if (error instanceof JsonPathError) return undefined
    throw error
  }
}

/** Of all paths of one row. */
export class PathWalk {
  #steps = MAX_STEPS

  walk(path: readonly PathNode[], from: readonly Json[]): readonly Json[] {
    let values = from
    for (const node of path) values = this.#step(node, values)
    return values
  }

  #step(node: PathNode, values: readonly Json[]): readonly Json[] {
    this.#spend(values.length + 1)
    switch (node.type) {
      case 'field':
        return values.flatMap((value) => {
          const found = isJsonObject(value) ? ownMember(value, node.name) : undefined
          return found === undefined ? [] : [found]
        })
      case 'array':
        return values.flatMap((value) => (value === null ? [] : this.#slice(node.slice, value)))
      case 'union':
        return node.paths.flatMap((path) => this.walk(path, values))
      case 'filter':
        return values.flatMap((value) => this.#filter(node, value))
      case 'wildcard':
        return values.flatMap((value) => this.#children(value))
      case 'descent':
        return this.#descend(values)
      case 'literal':
        return typeof node.value === 'string' ? [node.value] : values.map(() => node.value)
      case 'word':
        throw new JsonPathError(`unrecognized identifier ${node.word}`)
    }
  }

  #slice({ start = 0, end, isEndDerived, step = 1 }: Slice, value: Json): Json[] {
    if (!Array.isArray(value)) throw new JsonPathError('not array or slice')
    const { length } = value
    const from = start < 0 ? start + length : start
    let to = end ?? length
    if (to < 0 || (to === 0 && isEndDerived)) to += length
    if (from === to) return []
    if (from < 0 || from >= length || to < 0 || to > length || from > to || step <= 0)
      throw new JsonPathError('array index out of bounds')
    this.#spend(to - from)
    const found: Json[] = []
    for (let i = from; i < to; i += step) found.push(value[i]!)
    return found
  }

  #filter({ left, operator, right }: PathNode & { readonly type: 'filter' }, value: Json): Json[] {
    if (!Array.isArray(value)) throw new JsonPathError('not array or slice and cannot be filtered')
    this.#spend(value.length)
    return value.filter((item) => {
      if (operator === 'exists') return this.#exists(left, item)
      const [a, moreLeft] = this.walk(left, [item])
      if (a === undefined) return false
      const [b, moreRight] = this.walk(right, [item])
      if (moreLeft !== undefined || moreRight !== undefined)
        throw new JsonPathError('can only compare one element at a time')
      return b !== undefined && compares(a, operator, b, right)
    })
  }

  #exists(path: readonly PathNode[], item: Json): boolean {
    try {
      return this.walk(path, [item]).length > 0
    } catch (error) {
      if (error instanceof JsonPathError && this.#steps >= 0) return true
      throw error
    }
  }

  #children(value: Json): Json[] {
    if (typeof value === 'string') {
      this.#spend(Buffer.byteLength(value))
      return [...Buffer.from(value)]
    }
    const children = childrenOf(value)
    this.#spend(children.length)
    return children
  }

  /** What has something below it, and all such things below that. Below a text are bytes, which have nothing below them. */
  #descend(values: readonly Json[]): Json[] {
    const found: Json[] = []
    const visit = (value: Json): void => {
      if (typeof value === 'string') {
        if (value !== '') found.push(value)
        return
      }
      const children = this.#children(value)
      if (children.length === 0) return
      found.push(value)
      for (const child of children) visit(child)
    }
    for (const value of values) visit(value)
    return found
  }

  #spend(steps: number): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new JsonPathError('the path touches too many values')
  }
}

function childrenOf(value: Json): Json[] {
  if (Array.isArray(value)) return value
  if (isJsonObject(value)) return Object.values(value).filter((one) => one !== undefined)
  return []
}

/** Only values of one kind can be compared; whole numbers and fractions are two kinds. */
function compares(a: Json, operator: string, b: Json, right: readonly PathNode[]): boolean {
  const literal = right[0]?.type === 'literal' && right[0].isFloat
  const kind = comparable(a, false)
  if (kind !== comparable(b, literal)) throw new JsonPathError('incompatible types for comparison')
  const [x, y] = [a as string | number | bigint | boolean, b as string | number | bigint | boolean]
  if (operator === '==') return sameValue(x, y)
  if (operator === '!=') return !sameValue(x, y)
  if (kind === 'boolean') throw new JsonPathError('invalid type for comparison')
  switch (operator) {
    case '<':
      return x < y
    case '<=':
      return x <= y
    case '>':
      return x > y
    case '>=':
      return x >= y
    default:
      throw new JsonPathError(`unrecognized filter operator ${operator}`)
  }
}

/** A number may be in either of its two forms. */
const sameValue = (a: string | number | bigint | boolean, b: string | number | bigint | boolean): boolean =>
  a === b || (typeof a !== typeof b && typeof a !== 'string' && typeof b !== 'string' && Number(a) === Number(b))

function comparable(value: Json, isFloat: boolean): 'boolean' | 'string' | 'integer' | 'float' {
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return Number.isInteger(value) && !isFloat ? 'integer' : 'float'
  throw new JsonPathError('invalid type for comparison')
}

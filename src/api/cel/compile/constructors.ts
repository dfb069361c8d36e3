/** Thread: any. Closures that make lists, maps and objects. */
import { STRUCT_CREATE_COST } from '../cost/estimate.js'
import type { ObjectType } from '../types.js'
import { CelMap } from '../values/maps.js'
import { Optional } from '../values/optional.js'
import { structValue } from '../values/struct.js'
import { valueType } from '../values/type-value.js'
import { CelError, type CelValue } from '../values/value.js'
import { type Closure, NO_OVERLOAD } from './frame.js'

const KEY_KINDS = new Set(['string', 'int', 'uint', 'bool'])

export function listClosure(items: readonly Closure[], optional: readonly number[], cost: number): Closure {
  const optionals = new Set(optional)
  return (frame) => {
    const made: CelValue[] = []
    for (let i = 0; i < items.length; i++) {
      const value = contentOf(items[i]!(frame), optionals.has(i))
      if (value instanceof CelError) return value
      if (value !== undefined) made.push(value)
    }
    frame.cost += cost
    return made
  }
}

/** Of what was written `?value`: what it holds, undefined when that is nothing. */
function contentOf(value: CelValue, optional: boolean): CelValue | undefined {
  if (!optional || value instanceof CelError) return value
  return value instanceof Optional ? value.value : NO_OVERLOAD
}

interface Entry {
  readonly key: Closure
  readonly value: Closure
  readonly optional: boolean
}

export function mapClosure(entries: readonly Entry[], cost: number): Closure {
  return (frame) => {
    const made: (readonly [CelValue, CelValue])[] = []
    for (const entry of entries) {
      const key = entry.key(frame)
      if (key instanceof CelError) return key
      if (!KEY_KINDS.has(valueType(key).kind)) return new CelError(`unsupported key type: ${valueType(key).kind}`)
      const value = contentOf(entry.value(frame), entry.optional)
      if (value instanceof CelError) return value
      if (value !== undefined) made.push([key, value])
    }
    frame.cost += cost
    const map = CelMap.of(made)
    return map.size === made.length ? map : new CelError('Failed with repeated key')
  }
}

interface Field {
  readonly name: string
  readonly value: Closure
  readonly optional: boolean
}

export function structClosure(type: ObjectType, fields: readonly Field[]): Closure {
  return (frame) => {
    const made: (readonly [string, CelValue])[] = []
    for (const { name, value, optional } of fields) {
      const content = contentOf(value(frame), optional)
      if (content instanceof CelError) return content
      if (content !== undefined) made.push([name, content])
    }
    frame.cost += STRUCT_CREATE_COST
    return structValue(type, made)
  }
}

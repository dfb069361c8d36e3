/**
 * Thread: pool. What the expressions of mutating policies build, as JSON: an apply configuration from `Object{}`, operations of a
 * JSON patch from `JSONPatch{}`.
 */
import { MAX_REQUEST_SIZE } from '../../api/cel/limits.js'
import { Bytes } from '../../api/cel/values/bytes.js'
import { type CelList, listItems } from '../../api/cel/values/lists.js'
import { isMap, mapGet, mapKeys } from '../../api/cel/values/maps.js'
import { StructValue } from '../../api/cel/values/struct.js'
import { formatDuration, formatTimestamp } from '../../api/cel/values/time-formats.js'
import { Duration, Timestamp } from '../../api/cel/values/times.js'
import { runtimeTypeName, valueType } from '../../api/cel/values/type-value.js'
import { type CelValue, Double, intValue, ListValue, Uint } from '../../api/cel/values/value.js'
import { setMember } from '../../api/json/reader.js'
import type { Json, JsonObject } from '../../api/object.js'
import { MutationError } from './mutation-error.js'

/** An apply configuration. Throws a MutationError. */
export function configurationOf(value: CelValue): JsonObject {
  if (!(value instanceof StructValue))
    throw new MutationError(`unsupported return type from ApplyConfiguration expression: ${typeOf(value)}`)
  checkTypeNames(value)
  return new Printer().value(value) as JsonObject
}

/** The operations of a JSON patch. Throws a MutationError. */
export function operationsOf(value: CelValue): Json[] {
  if (!isList(value)) throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array')
  const printer = new Printer()
  return listItems(value).map((item) => {
    if (!(item instanceof StructValue))
      throw new MutationError(
        `type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of ${typeOf(item)}`,
      )
    return operation(item, printer)
  })
}

function operation(patch: StructValue, printer: Printer): JsonObject {
  const text = (name: string): string => {
    const value = patch.get(name) ?? ''
    if (typeof value !== 'string')
      throw new MutationError(`unexpected type ${typeOf(value)} for JSONPatchType '${name}' field`)
    return value
  }
  const from = text('from')
  const value = patch.get('value')
  if (value instanceof StructValue) checkTypeNames(value)
  return {
    op: text('op'),
    path: text('path'),
    ...(from === '' ? {} : { from }),
    ...(value === undefined ? {} : { value: printer.value(value) }),
  }
}

/**
 * Values of `Object.spec` may stand in the field `spec` of an `Object` and nowhere else; lists and maps between them have no
 * names.
 */
function checkTypeNames(root: StructValue): void {
  const wrong = wrongTypeNames(root, root.type.name)
  if (wrong.length > 0) throw new MutationError(`type mismatch: ${wrong.join('\n')}`)
}

function wrongTypeNames(value: CelValue, path: string): string[] {
  if (value instanceof StructValue) {
    const { name } = value.type
    const told = `unexpected type name ${JSON.stringify(name)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`
    // What stands in the wrong place is not looked into: its own name says where it belongs.
    if (name !== path) return [told]
    return value.keys.flatMap((key) => wrongTypeNames(value.get(key)!, `${path}.${String(key)}`))
  }
  if (isList(value)) return holdsStructs(value) ? listItems(value).flatMap((item) => wrongTypeNames(item, path)) : []
  return []
}

/** Lists have one type of items, so the first one tells of all. */
const holdsStructs = (list: CelList): boolean => listItems(list)[0] instanceof StructValue

const isList = (value: CelValue): value is CelList => Array.isArray(value) || value instanceof ListValue

const typeOf = (value: CelValue): string => runtimeTypeName(valueType(value))

/** Prints values as JSON. What an expression shares between many places is printed in each of them, so there is a limit. */
class Printer {
  #left = MAX_REQUEST_SIZE

  value(value: CelValue): Json {
    this.#left -= typeof value === 'string' ? value.length + 2 : 2
    if (this.#left < 0) throw new MutationError(`the change is larger than ${MAX_REQUEST_SIZE} bytes`)
    if (typeof value !== 'object' || value === null) return value
    if (isList(value)) return listItems(value).map((item) => this.value(item))
    if (isMap(value)) return this.#map(value)
    if (value instanceof Double) return value.value
    if (value instanceof Uint) return intValue(value.value)
    if (value instanceof Bytes) return Buffer.from(value.value).toString('base64')
    if (value instanceof Timestamp) return formatTimestamp(value)
    if (value instanceof Duration) return formatDuration(value)
    throw new MutationError(`a value of type ${typeOf(value)} cannot be written as JSON`)
  }

  #map(map: Parameters<typeof mapKeys>[0]): JsonObject {
    const printed: JsonObject = {}
    for (const key of mapKeys(map)) {
      if (typeof key !== 'string') throw new MutationError(`map key ${String(key)} is no string`)
      this.#left -= key.length + 4
      setMember(printed, key, this.value(mapGet(map, key)!))
    }
    return printed
  }
}

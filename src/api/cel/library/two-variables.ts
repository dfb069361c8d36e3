/** Thread: any. Macros with two variables, `map.all(key, value, …)`, `list.transformMap(i, item, …)`, and what they build maps with. */
import type { FunctionDeclaration, Library } from '../function-declaration.js'
import type { ExpressionFactory, Macro, MacroError } from '../macro.js'
import { ACCUMULATOR, type Expression } from '../syntax.js'
import { type CelType, DYN, mapOf, parameter } from '../types.js'
import { type AnyMap, type MapKey, mapGet, mapKey, mapKeys } from '../values/maps.js'
import { CelError, type CelValue, MapValue } from '../values/value.js'
import { textOf } from './format-string.js'
import { declare, plain } from './overload.js'

const INSERT = 'cel.@mapInsert'
type Parts = Record<'init' | 'condition' | 'step' | 'result', Expression>

const accumulator = (make: ExpressionFactory): Expression => make.identifier(ACCUMULATOR)

function variables(make: ExpressionFactory, [first, second]: readonly Expression[]): [string, string] | MacroError {
  const names: string[] = []
  for (const argument of [first!, second!]) {
    if (argument.kind !== 'identifier' || argument.name.startsWith('.'))
      return make.error('argument must be a simple name', argument)
    if (argument.name === names[0]) return make.error(`duplicate variable name: ${argument.name}`, argument)
    if (argument.name === ACCUMULATOR || argument.name === '__result__')
      return make.error('iteration variable overwrites accumulator variable', argument)
    names.push(argument.name)
  }
  return names as [string, string]
}

const macro = (
  name: string,
  arity: number,
  parts: (make: ExpressionFactory, args: readonly Expression[]) => Parts,
): Macro => ({
  name,
  member: true,
  arity,
  expand: (make, args, target) => {
    const names = variables(make, args)
    if (!Array.isArray(names)) return names as MacroError
    const [variable, variable2] = names
    return make.comprehension({ range: target!, variable, variable2, accumulator: ACCUMULATOR, ...parts(make, args) })
  },
})

const all = macro('all', 3, (make, [, , body]) => ({
  init: make.literal(true),
  condition: make.call('@not_strictly_false', accumulator(make)),
  step: make.call('_&&_', accumulator(make), body!),
  result: accumulator(make),
}))

const exists = macro('exists', 3, (make, [, , body]) => ({
  init: make.literal(false),
  condition: make.call('@not_strictly_false', make.call('!_', accumulator(make))),
  step: make.call('_||_', accumulator(make), body!),
  result: accumulator(make),
}))

const existsOne = (name: string): Macro =>
  macro(name, 3, (make, [, , body]) => ({
    init: make.literal(0),
    condition: make.literal(true),
    step: make.call('_?_:_', body!, make.call('_+_', accumulator(make), make.literal(1)), accumulator(make)),
    result: make.call('_==_', accumulator(make), make.literal(1)),
  }))

/** With three arguments, and with a test before the last one. */
const transforms = (
  name: string,
  init: (make: ExpressionFactory) => Expression,
  add: (make: ExpressionFactory, args: readonly Expression[], value: Expression) => Expression,
): Macro[] =>
  [3, 4].map((arity) =>
    macro(name, arity, (make, args) => {
      const added = add(make, args, args[arity - 1]!)
      return {
        init: init(make),
        condition: make.literal(true),
        step: arity === 3 ? added : make.call('_?_:_', args[2]!, added, accumulator(make)),
        result: accumulator(make),
      }
    }),
  )

const MACROS: readonly Macro[] = [
  all,
  exists,
  existsOne('existsOne'),
  existsOne('exists_one'),
  ...transforms(
    'transformList',
    (make) => make.list(),
    (make, _args, value) => make.call('_+_', accumulator(make), make.list(value)),
  ),
  ...transforms(
    'transformMap',
    (make) => make.map(),
    (make, [key], value) => make.call(INSERT, accumulator(make), key!, value),
  ),
  ...transforms(
    'transformMapEntry',
    (make) => make.map(),
    (make, _args, entry) => make.call(INSERT, accumulator(make), entry),
  ),
]

const MAP = mapOf(DYN, DYN)

/** A map that a macro is building. Only the macro has it until it is whole: so it grows in place, a step an entry. */
class GrowingMap extends MapValue {
  readonly #entries = new Map<MapKey, readonly [CelValue, CelValue]>()

  get type(): CelType {
    return MAP
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: CelValue): CelValue | undefined {
    const found = mapKey(key)
    return found === undefined ? undefined : this.#entries.get(found)?.[1]
  }

  get keys(): readonly CelValue[] {
    return Array.from(this.#entries.values(), ([key]) => key)
  }

  /** False when the key is there already, or can be none. */
  insert(key: CelValue, value: CelValue): boolean {
    const found = mapKey(key)
    if (found === undefined || this.#entries.has(found)) return false
    this.#entries.set(found, [key, value])
    return true
  }
}

/** The literal that the macro begins with may be shared, and is copied. */
function growing(map: AnyMap): GrowingMap {
  if (map instanceof GrowingMap) return map
  const copy = new GrowingMap()
  for (const key of mapKeys(map)) copy.insert(key, mapGet(map, key)!)
  return copy
}

function insert(map: AnyMap, key: CelValue, value: CelValue): CelValue {
  const target = growing(map)
  return target.insert(key, value) ? target : new CelError(`insert failed: key ${textOf(key)} already exists`)
}

function insertAll(map: AnyMap, entries: AnyMap): CelValue {
  const target = growing(map)
  for (const key of mapKeys(entries)) {
    const result = insert(target, key, mapGet(entries, key)!)
    if (result instanceof CelError) return result
  }
  return target
}

const [K, V] = [parameter('K'), parameter('V')]
const KV = mapOf(K, V)
const mapInsert: FunctionDeclaration = declare(
  INSERT,
  plain('@mapInsert_map_key_value', [KV, K, V], KV, insert),
  plain('@mapInsert_map_map', [KV, KV], KV, insertAll),
)

export const twoVariables: Library = { functions: [mapInsert], macros: MACROS }

/** Thread: any. The macros of the language: has, all, exists, exists_one, map, filter; and those of optional values. */
import type { ExpressionFactory, Macro, MacroError } from '../macro.js'
import { ACCUMULATOR, type Expression } from '../syntax.js'

/** The name of a variable that a macro binds. */
function variableName(make: ExpressionFactory, argument: Expression): string | MacroError {
  if (argument.kind !== 'identifier' || argument.name.startsWith('.'))
    return make.error('argument is not an identifier', argument)
  if (argument.name === ACCUMULATOR || argument.name === '__result__')
    return make.error('iteration variable overwrites accumulator variable', argument)
  return argument.name
}

const quantifier = (
  name: string,
  parts: (make: ExpressionFactory, body: Expression) => Record<'init' | 'condition' | 'step' | 'result', Expression>,
): Macro => ({
  name,
  member: true,
  arity: 2,
  expand: (make, args, target) => {
    const variable = variableName(make, args[0]!)
    if (typeof variable !== 'string') return variable
    return make.comprehension({ range: target!, variable, accumulator: ACCUMULATOR, ...parts(make, args[1]!) })
  },
})

const accumulator = (make: ExpressionFactory): Expression => make.identifier(ACCUMULATOR)

const all = quantifier('all', (make, body) => ({
  init: make.literal(true),
  condition: make.call('@not_strictly_false', accumulator(make)),
  step: make.call('_&&_', accumulator(make), body),
  result: accumulator(make),
}))

const exists = quantifier('exists', (make, body) => ({
  init: make.literal(false),
  condition: make.call('@not_strictly_false', make.call('!_', accumulator(make))),
  step: make.call('_||_', accumulator(make), body),
  result: accumulator(make),
}))

const existsOne = (name: string): Macro =>
  quantifier(name, (make, body) => ({
    init: make.literal(0),
    condition: make.literal(true),
    step: make.call('_?_:_', body, make.call('_+_', accumulator(make), make.literal(1)), accumulator(make)),
    result: make.call('_==_', accumulator(make), make.literal(1)),
  }))

const walk = (
  name: 'map' | 'filter',
  arity: number,
  parts: (args: readonly Expression[]) => { test?: Expression; item: Expression },
): Macro => ({
  name,
  member: true,
  arity,
  expand: (make, args, target) => {
    const variable = variableName(make, args[0]!)
    if (typeof variable !== 'string') return variable
    const { test, item } = parts(args)
    const init = make.list()
    const condition = make.literal(true)
    const added = make.call('_+_', accumulator(make), make.list(item))
    const step = test === undefined ? added : make.call('_?_:_', test, added, accumulator(make))
    return make.comprehension({
      range: target!,
      variable,
      accumulator: ACCUMULATOR,
      init,
      condition,
      step,
      result: accumulator(make),
    })
  },
})

const has: Macro = {
  name: 'has',
  member: false,
  arity: 1,
  expand: (make, [argument]) => {
    if (argument!.kind === 'select' && !argument!.test) return make.select(argument!.operand, argument!.field, true)
    return make.error('invalid argument to has() macro', argument!)
  },
}

export const STANDARD_MACROS: readonly Macro[] = [
  has,
  all,
  exists,
  existsOne('exists_one'),
  existsOne('existsOne'),
  walk('map', 2, ([, item]) => ({ item: item! })),
  walk('map', 3, ([, test, item]) => ({ test: test!, item: item! })),
  walk('filter', 2, ([item, test]) => ({ test: test!, item: item! })),
]

const UNUSED = '#unused'

/** `target.optMap(x, body)`: body of what the target holds, when it holds something. */
const optionalWalk = (name: 'optMap' | 'optFlatMap'): Macro => ({
  name,
  member: true,
  arity: 2,
  expand: (make, [variable, body], target) => {
    if (variable!.kind !== 'identifier')
      return make.error(`${name}() variable name must be a simple identifier`, variable!)
    const bound = make.comprehension({
      range: make.list(),
      variable: UNUSED,
      accumulator: variable!.name,
      init: make.memberCall('value', make.copy(target!)),
      condition: make.literal(false),
      step: make.identifier(variable!.name),
      result: body!,
    })
    return make.call(
      '_?_:_',
      make.memberCall('hasValue', target!),
      name === 'optMap' ? make.call('optional.of', bound) : bound,
      make.call('optional.none'),
    )
  },
})

export const OPTIONAL_MACROS: readonly Macro[] = [optionalWalk('optMap'), optionalWalk('optFlatMap')]

/** Thread: any. `cel.bind(name, value, expression)`: a name for a value. Only selectors of devices have it. */
import type { Library } from '../function-declaration.js'
import type { Macro } from '../macro.js'

const bind: Macro = {
  name: 'bind',
  member: true,
  arity: 3,
  expand: (make, [variable, init, result], target) => {
    if (target?.kind !== 'identifier' || target.name !== 'cel') return undefined
    if (variable!.kind !== 'identifier')
      return make.error('cel.bind() variable names must be simple identifiers', variable!)
    return make.comprehension({
      range: make.list(),
      variable: '#unused',
      accumulator: variable!.name,
      init: init!,
      condition: make.literal(false),
      step: make.identifier(variable!.name),
      result: result!,
    })
  },
}

export const bindings: Library = { functions: [], macros: [bind] }

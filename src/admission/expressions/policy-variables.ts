/**
 * Thread: any. Variables of a policy: expressions with a name, each of which may speak of those before it as `variables.name`. A
 * variable is evaluated when it is first read, once for all expressions of a group; what it costs is what the group costs.
 */
import type { Environment } from '../../api/cel/environment.js'
import { type Activation, type CostBudget, EvaluationError } from '../../api/cel/program.js'
import { type CelType, DYN, listOf, mapOf, type ObjectField, type ObjectType, objectOf } from '../../api/cel/types.js'
import { LazyObject } from '../../api/cel/values/typed-json.js'
import { CelError, type CelValue } from '../../api/cel/values/value.js'
import { type AdmissionNames, admissionEnvironment, type ExpressionUse } from './admission-environment.js'
import { type AdmissionExpression, compileExpression } from './admission-expression.js'

export interface NamedExpression {
  readonly name?: string
  readonly expression?: string
}

export class PolicyVariables {
  /** The type of `variables`: it has a field for each variable that was added. */
  readonly type: ObjectType
  readonly #fields = new Map<string, ObjectField>()
  readonly #expressions = new Map<string, AdmissionExpression>()

  constructor() {
    this.type = objectOf('kubernetes.variables', this.#fields)
  }

  /** Compiles one more variable, with those before it in its environment. One that is wrong may be anything. */
  add(name: string, source: string, environment: Environment): AdmissionExpression {
    const compiled = compileExpression(source, environment)
    const type = compiled.program === undefined ? DYN : declaredType(compiled.program.type)
    this.#fields.set(name, { type, required: true, property: name })
    this.#expressions.set(name, compiled)
    return compiled
  }

  /** The value of `variables` for one group of expressions. */
  value(activation: Activation, budget: CostBudget): LazyObject {
    const known = new Map<string, CelValue>()
    return new LazyObject(this.type, (name) => {
      let value = known.get(name)
      if (value === undefined) {
        const expression = this.#expressions.get(name)
        if (expression === undefined) return undefined
        // Of two variables with one name the second may speak of the first and mean itself.
        known.set(name, new CelError(`variable ${JSON.stringify(name)} refers to itself`))
        value = evaluateVariable(name, expression, activation, budget)
        known.set(name, value)
      }
      return value
    })
  }
}

function evaluateVariable(
  name: string,
  { program, error }: AdmissionExpression,
  activation: Activation,
  budget: CostBudget,
): CelValue {
  const told = JSON.stringify(name)
  if (program === undefined) return new CelError(`composited variable ${told} fails to compile: ${error}`)
  const value = program.evaluate(activation, budget)
  return value instanceof EvaluationError
    ? new CelError(`composited variable ${told} fails to evaluate: ${value.message}`)
    : value
}

/** What the type of a variable's expression means to those who read the variable: of objects and others nothing is known. */
function declaredType(type: CelType): CelType {
  switch (type.kind) {
    case 'list':
      return listOf(declaredType(type.element))
    case 'map':
      return mapOf(declaredType(type.key), declaredType(type.value))
    case 'object':
    case 'opaque':
    case 'type':
    case 'parameter':
    case 'error':
      return DYN
    default:
      return type
  }
}

/** The variables of a policy that is stored. */
export function storedVariables(
  variables: readonly NamedExpression[],
  names: Pick<AdmissionNames, 'params'>,
  use: ExpressionUse = 'stored',
): PolicyVariables {
  const composed = new PolicyVariables()
  if (variables.length === 0) return composed
  const environment = admissionEnvironment(use, { ...names, authorizer: true, variables: composed.type })
  for (const { name = '', expression = '' } of variables) composed.add(name, expression, environment)
  return composed
}

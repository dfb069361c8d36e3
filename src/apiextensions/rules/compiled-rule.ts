/** Thread: any. One rule of x-kubernetes-validations as a program, with the program of its message, or why it is none. */
import { baseEnvironment, type Environment } from '../../api/cel/environment.js'
import { compile, type Program } from '../../api/cel/program.js'
import { type CelType, optionalOf } from '../../api/cel/types.js'
import type { ValidationRule } from '../../api/generated/kinds/apiextensions.v1.js'
import type { JsonSchema } from '../schema/json-schema.js'
import { resolveFieldPath } from './schema-path.js'

/** What of the language an expression may use: see `baseEnvironment`. */
export type ExpressionUse = 'new' | 'stored'

export interface CompiledRule {
  readonly rule: ValidationRule
  /** Undefined when there is an error, and for a rule that is empty. */
  readonly program: Program | undefined
  readonly error: string | undefined
  readonly message: Program | undefined
  readonly messageError: string | undefined
  /** Whether it is about a change: evaluated only where there is an old value, unless that is optional. */
  readonly usesOldSelf: boolean
  /** What `fieldPath` adds to the path of the value; '' for nothing. */
  readonly path: string
}

/** Compiles the rules of values of one type. */
export class RuleCompiler {
  readonly #type: CelType
  readonly #schema: JsonSchema
  readonly #environments = new Map<string, Environment>()

  /** `schema`: of the value, in which field paths are looked up. */
  constructor(type: CelType, schema: JsonSchema) {
    this.#type = type
    this.#schema = schema
  }

  compile(rule: ValidationRule, useOf: (expression: string, isMessage: boolean) => ExpressionUse): CompiledRule {
    const { rule: source = '', messageExpression = '', fieldPath = '', optionalOldSelf } = rule
    const nothing = {
      rule,
      program: undefined,
      error: undefined,
      message: undefined,
      messageError: undefined,
      path: '',
    }
    if (source.trim() === '') return { ...nothing, usesOldSelf: false }
    const isOptional = optionalOldSelf === true
    const own = typed(source, this.#environment(useOf(source, false), isOptional), 'bool')
    if (own.program === undefined) return { ...nothing, error: own.error, usesOldSelf: false }
    const message =
      messageExpression === ''
        ? undefined
        : typed(messageExpression, this.#environment(useOf(messageExpression, true), isOptional), 'string')
    return {
      ...nothing,
      program: own.program,
      message: message?.program,
      messageError: message?.error,
      usesOldSelf: own.program.variables.has('oldSelf'),
      path: fieldPath === '' ? '' : (resolveFieldPath(fieldPath, this.#schema)?.path.toString() ?? ''),
    }
  }

  #environment(use: ExpressionUse, isOptional: boolean): Environment {
    const key = `${use} ${isOptional}`
    let environment = this.#environments.get(key)
    if (environment === undefined) {
      const oldSelf = isOptional ? optionalOf(this.#type) : this.#type
      environment = baseEnvironment(use).extend({ variables: { self: this.#type, oldSelf } })
      this.#environments.set(key, environment)
    }
    return environment
  }
}

type Typed =
  | { readonly program: Program; readonly error: undefined }
  | { readonly program: undefined; readonly error: string }

function typed(source: string, environment: Environment, wanted: 'bool' | 'string'): Typed {
  const { program, errors } = compile(source, environment)
  if (program === undefined) return { program, error: `compilation failed: ${errors}` }
  if (program.type.kind === wanted) return { program, error: undefined }
  return { program: undefined, error: `must evaluate to a ${wanted}` }
}

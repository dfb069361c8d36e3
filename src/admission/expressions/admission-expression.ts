/** Thread: any. One expression of a policy or webhook, compiled once: a program, or what is wrong with it. */
import type { Environment } from '../../api/cel/environment.js'
import { compile, type Program } from '../../api/cel/program.js'
import { type CelType, sameType, typeName } from '../../api/cel/types.js'

export interface AdmissionExpression {
  readonly source: string
  readonly program: Program | undefined
  /** Why there is no program; '' when there is one. */
  readonly error: string
}

/**
 * Compiles an expression. `wanted` are the types of which its result must be one, exactly: what may be anything (`dyn`) is not
 * what may be a bool. Without it any type will do.
 */
export function compileExpression(
  source: string,
  environment: Environment,
  wanted?: readonly CelType[],
): AdmissionExpression {
  const { program, errors } = compile(source, environment)
  if (program === undefined) return { source, program, error: `compilation failed: ${errors}` }
  if (wanted === undefined || wanted.some((type) => sameType(type, program.type))) return { source, program, error: '' }
  const names = wanted.map(typeName)
  const error = `must evaluate to ${names.length === 1 ? names[0] : `one of [${names.join(' ')}]`} but got ${typeName(program.type)}`
  return { source, program: undefined, error }
}

/** Thread: any. What the checker says of an expression, as an error of the field that holds it. */
import { type FieldError, type FieldPath, invalid } from '../field-error.js'
import { type CelEnvironment, checkExpression } from './checker.js'
import type { CelType } from './types.js'

export function expressionErrors(
  expression: string,
  path: FieldPath,
  environment: CelEnvironment,
  wanted?: readonly CelType[],
): FieldError[] {
  const { errors } = checkExpression(expression, environment, wanted)
  return errors.length === 0 ? [] : [invalid(path, expression, `compilation failed: ${errors.join('; ')}`)]
}

/**
 * Thread: pool. What is wrong with an expression of a policy or webhook, as an error of the field that holds it. Expressions that the
 * stored object has already may use everything that this server knows; new ones only what the release before knows too.
 */
import { type AdmissionNames, admissionEnvironment } from '../../admission/expressions/admission-environment.js'
import { compileExpression } from '../../admission/expressions/admission-expression.js'
import type { Environment } from '../../api/cel/environment.js'
import type { CelType } from '../../api/cel/types.js'
import { type FieldError, type FieldPath, invalid } from '../../api/field-error.js'

/** The environments of one kind of expressions, for new ones and for stored ones. */
export class CheckedExpressions {
  readonly #names: AdmissionNames
  readonly #known: ReadonlySet<string>
  #new: Environment | undefined
  #stored: Environment | undefined

  /** `known` are the expressions of the stored object. */
  constructor(names: AdmissionNames, known: ReadonlySet<string>) {
    this.#names = names
    this.#known = known
  }

  environment(source: string): Environment {
    if (this.#known.has(source)) {
      this.#stored ??= admissionEnvironment('stored', this.#names)
      return this.#stored
    }
    this.#new ??= admissionEnvironment('new', this.#names)
    return this.#new
  }

  errors(source: string, path: FieldPath, wanted: readonly CelType[]): FieldError[] {
    const { error } = compileExpression(source, this.environment(source), wanted)
    return error === '' ? [] : [invalid(path, source, error)]
  }
}

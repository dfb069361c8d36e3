/** Thread: pool. What validating policies leave in the audit log: their own annotations, and validations that failed. */
import type { AdmissionAttributes } from '../chain.js'
import type { PolicyBinding } from './policy.js'

/** The longest value of an annotation, in bytes; the rest is cut off. */
const MAX_VALUE_BYTES = 10 * 1024
const FAILURE = 'validation.policy.admission.k8s.io/validation_failure'

/** The annotations of one policy: bindings that give different values to a key are told one after the other. */
export class AuditAnnotations {
  readonly #values = new Map<string, Set<string>>()

  add(key: string, value: string): void {
    const cut =
      Buffer.byteLength(value) > MAX_VALUE_BYTES ? Buffer.from(value).toString('utf8', 0, MAX_VALUE_BYTES) : value
    const values = this.#values.get(key)
    if (values === undefined) this.#values.set(key, new Set([cut]))
    else values.add(cut)
  }

  publish(policy: string, attributes: AdmissionAttributes): void {
    for (const [key, values] of this.#values) attributes.addAnnotation(`${policy}/${key}`, [...values].join(', '))
  }
}

export function failureAnnotation(
  policy: string,
  { name, validationActions }: PolicyBinding,
  expressionIndex: number,
  message: string,
  attributes: AdmissionAttributes,
): void {
  const failure = { message, policy, binding: name, expressionIndex, validationActions }
  attributes.addAnnotation(FAILURE, JSON.stringify([failure]))
}

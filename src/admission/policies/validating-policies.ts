/**
 * Thread: pool. ValidatingAdmissionPolicy: policies whose expressions may refuse the finished object, warn of it, or note it in the
 * audit log. All of them are asked; the request is refused with what the first that refused said.
 */
import type { ValidatingAdmissionPolicy as RawValidatingPolicy } from '../../api/generated/kinds/admissionregistration.v1.js'
import { StatusError } from '../../api/status.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { withAuthorizations } from '../expressions/expression-authorizer.js'
import { forbid } from '../forbid.js'
import type { ServedKind } from '../matching/admission-kinds.js'
import type { Candidate } from '../matching/rule-index.js'
import { notReady } from '../not-ready.js'
import { AuditAnnotations, failureAnnotation } from './audit-annotations.js'
import { isExemptFromPolicies } from './exempt-resources.js'
import type { BoundPolicy, PolicyBinding } from './policy.js'
import type { PolicyMetrics } from './policy-metrics.js'
import { PolicyConfigurationError } from './policy-params.js'
import { type PolicyParts, PolicyRequest } from './policy-request.js'
import type { PolicySource } from './policy-source.js'
import type { PolicyDecision, ValidatingEvaluator, ValidationResult } from './validating-policy.js'

type Bound = BoundPolicy<ValidatingEvaluator>

/** Why the request is refused. */
interface Denial {
  readonly policy: string
  /** Undefined when the policy itself cannot be used. */
  readonly binding: string | undefined
  readonly message: string
  readonly reason?: string | undefined
}

const INVALID = 422
const CODES: ReadonlyMap<string, number> = new Map([
  ['Forbidden', 403],
  ['Unauthorized', 401],
  ['RequestEntityTooLarge', 413],
])

export class ValidatingAdmissionPolicy implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionPolicy'
  readonly #source: PolicySource<RawValidatingPolicy, ValidatingEvaluator>
  readonly #parts: PolicyParts
  readonly #metrics: PolicyMetrics

  constructor(
    source: PolicySource<RawValidatingPolicy, ValidatingEvaluator>,
    parts: PolicyParts,
    metrics: PolicyMetrics,
  ) {
    this.#source = source
    this.#parts = parts
    this.#metrics = metrics
  }

  handles(attributes: Pick<AdmissionAttributes, 'resource'>): boolean {
    return !isExemptFromPolicies(attributes)
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    if (!this.#source.sync()) throw notReady(attributes)
    const candidates = this.#source.candidates(attributes)
    return candidates.length === 0 ? undefined : this.#dispatch(attributes, candidates)
  }

  async #dispatch(attributes: AdmissionAttributes, candidates: readonly Candidate<Bound>[]): Promise<void> {
    const request = new PolicyRequest(attributes, this.#parts, this.#source.index)
    const denials: Denial[] = []
    for (const candidate of candidates) await this.#policy(candidate, request, denials)
    const [first] = denials
    if (first !== undefined) throw refusal(attributes, first)
  }

  async #policy(
    candidate: Candidate<Bound>,
    request: PolicyRequest<ValidatingEvaluator>,
    denials: Denial[],
  ): Promise<void> {
    const { entry } = candidate
    const { policy, bindings } = entry
    const attempt = async <R>(binding: PolicyBinding | undefined, run: () => Promise<R>): Promise<R | undefined> => {
      try {
        return await run()
      } catch (error) {
        if (!(error instanceof PolicyConfigurationError)) throw error
        const what = binding === undefined ? 'policy' : 'binding'
        const message = `failed to configure ${what}: ${error.message}`
        if (!policy.ignoresFailures) denials.push({ policy: policy.name, binding: binding?.name, message })
        return undefined
      }
    }
    const target = await attempt(undefined, () => request.matched(candidate))
    if (target === undefined) return
    const annotations = new AuditAnnotations()
    for (const binding of bindings)
      await attempt(binding, () => this.#binding(entry, binding, target, request, annotations, denials))
    annotations.publish(policy.name, request.attributes)
  }

  async #binding(
    entry: Bound,
    binding: PolicyBinding,
    target: ServedKind,
    request: PolicyRequest<ValidatingEvaluator>,
    annotations: AuditAnnotations,
    denials: Denial[],
  ): Promise<void> {
    if (!(await request.isBound(binding))) return
    const { policy } = entry
    for (const param of await request.params(entry, binding)) {
      await request.breather.breathe()
      const read = await param.read()
      if (read === undefined) continue
      const input = await request.input(target, read)
      const result = await withAuthorizations(() => policy.evaluator.validate(input))
      for (const [i, decision] of result.decisions.entries())
        this.#enforce(policy.name, binding, decision, i, request.attributes, denials)
      this.#note(policy.name, binding, result.annotations, annotations, denials)
    }
  }

  #enforce(
    policy: string,
    binding: PolicyBinding,
    decision: PolicyDecision,
    index: number,
    attributes: AdmissionAttributes,
    denials: Denial[],
  ): void {
    const { name, validationActions } = binding
    const { action, evaluation, message, reason } = decision
    if (action === 'admit') {
      if (evaluation === 'error') this.#metrics.validated(policy, name, decision, 'allow')
      return
    }
    for (const one of validationActions) {
      if (one === 'Deny') denials.push({ policy, binding: name, message, reason })
      else if (one === 'Audit') failureAnnotation(policy, binding, index, message, attributes)
      else if (one === 'Warn')
        attributes.addWarning(
          `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${name}': ${message}`,
        )
      else continue
      this.#metrics.validated(policy, name, decision, ENFORCED[one])
    }
  }

  /** An audit annotation that fails refuses the request, when the policy is to fail. */
  #note(
    policy: string,
    { name }: PolicyBinding,
    results: ValidationResult['annotations'],
    annotations: AuditAnnotations,
    denials: Denial[],
  ): void {
    for (const result of results) {
      if ('value' in result) {
        annotations.add(result.key, result.value)
        continue
      }
      const { error: message, elapsedMs } = result
      denials.push({ policy, binding: name, message })
      this.#metrics.validated(policy, name, { evaluation: 'error', message, elapsedMs }, 'deny')
    }
  }
}

const ENFORCED = { Deny: 'deny', Audit: 'audit', Warn: 'warn' } as const

function refusal(
  attributes: AdmissionAttributes,
  { policy, binding, message, reason = 'Invalid' }: Denial,
): StatusError {
  const by = binding === undefined ? '' : ` with binding '${binding}'`
  const told = `ValidatingAdmissionPolicy '${policy}'${by} denied request: ${message}`
  const { status } = forbid(attributes, told, [{ message: told }])
  return new StatusError({ ...status, reason, code: CODES.get(reason) ?? INVALID })
}

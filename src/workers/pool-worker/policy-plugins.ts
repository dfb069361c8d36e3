/** Thread: pool. The policy plugins of a pool thread. */
import { ConditionMetrics } from '../../admission/expressions/condition-metrics.js'
import type { AdmissionKinds } from '../../admission/matching/admission-kinds.js'
import type { AdmissionObjects } from '../../admission/objects.js'
import { MutatingAdmissionPolicy } from '../../admission/policies/mutating-policies.js'
import { MutatingEvaluator } from '../../admission/policies/mutating-policy.js'
import type { RawPolicy } from '../../admission/policies/policy.js'
import { PolicyMetrics } from '../../admission/policies/policy-metrics.js'
import { PolicyParams } from '../../admission/policies/policy-params.js'
import type { PolicyParts } from '../../admission/policies/policy-request.js'
import { PolicySource } from '../../admission/policies/policy-source.js'
import { ValidatingAdmissionPolicy } from '../../admission/policies/validating-policies.js'
import { ValidatingEvaluator } from '../../admission/policies/validating-policy.js'
import type { Authorizer } from '../../auth/interface.js'
import type { FollowedView } from '../../cacher/read/arena-follower.js'
import { staleFollowers } from '../../cacher/read/stale-followers.js'
import type { Clock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { Recorder } from '../../metrics/recorder.js'

export interface PolicyPluginsOptions {
  readonly cache: (resource: string) => FollowedView
  readonly objects: AdmissionObjects
  readonly kinds: AdmissionKinds
  readonly authorizer: Authorizer | undefined
  readonly clock: Clock
  readonly recorder: Recorder
  readonly logger: Logger
}

const GROUP = 'admissionregistration.k8s.io'

export class PolicyPlugins {
  readonly #options: PolicyPluginsOptions
  readonly #metrics: PolicyMetrics

  constructor(options: PolicyPluginsOptions) {
    this.#options = options
    this.#metrics = new PolicyMetrics(options.recorder)
  }

  validating(): ValidatingAdmissionPolicy {
    const { clock, recorder } = this.#options
    const conditions = new ConditionMetrics(recorder, 'policy', 'validate')
    const source = this.#source(
      'validating',
      (raw: ConstructorParameters<typeof ValidatingEvaluator>[0]) => new ValidatingEvaluator(raw, clock, conditions),
    )
    return new ValidatingAdmissionPolicy(source, this.#parts(), this.#metrics)
  }

  mutating(): MutatingAdmissionPolicy {
    const { clock, recorder } = this.#options
    const conditions = new ConditionMetrics(recorder, 'policy', 'admit')
    const source = this.#source(
      'mutating',
      (raw: ConstructorParameters<typeof MutatingEvaluator>[0]) => new MutatingEvaluator(raw, clock, conditions),
    )
    return new MutatingAdmissionPolicy(source, this.#parts(), this.#metrics)
  }

  #source<R extends RawPolicy, E>(kind: 'validating' | 'mutating', compile: (raw: R) => E): PolicySource<R, E> {
    const { cache, kinds, logger, recorder } = this.#options
    const arena = (resource: string) => ({ resource, view: cache(resource) })
    return new PolicySource<R, E>({
      policies: arena(`${kind}admissionpolicies.${GROUP}`),
      bindings: arena(`${kind}admissionpolicybindings.${GROUP}`),
      kinds,
      compile,
      onStale: staleFollowers(logger, recorder),
    })
  }

  #parts(): PolicyParts {
    const { kinds, objects, authorizer, clock } = this.#options
    return { kinds, objects, authorizer, clock, params: new PolicyParams(objects, kinds) }
  }
}

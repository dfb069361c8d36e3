/** Thread: pool. The two webhook plugins of a pool thread, each over connections of its own. */
import type { AdmissionKinds } from '../../admission/matching/admission-kinds.js'
import type { AdmissionObjects } from '../../admission/objects.js'
import { FailureLog } from '../../admission/webhooks/failure-log.js'
import { MutatingAdmissionWebhook } from '../../admission/webhooks/mutating-webhooks.js'
import { clusterIPResolver } from '../../admission/webhooks/service-resolver.js'
import { ValidatingAdmissionWebhook } from '../../admission/webhooks/validating-webhooks.js'
import type { ReviewVersion } from '../../admission/webhooks/webhook.js'
import { WebhookCaller } from '../../admission/webhooks/webhook-caller.js'
import { NO_USERS } from '../../admission/webhooks/webhook-credentials.js'
import { WebhookMetrics, type WebhookStep } from '../../admission/webhooks/webhook-metrics.js'
import { WebhookSource } from '../../admission/webhooks/webhook-source.js'
import { type TracedCall, WebhookTransport } from '../../admission/webhooks/webhook-transport.js'
import type { StructSchema } from '../../api/schema.js'
import type { Authorizer } from '../../auth/interface.js'
import type { FollowedView } from '../../cacher/read/arena-follower.js'
import { staleFollowers } from '../../cacher/read/stale-followers.js'
import { assert } from '../../lib/assert.js'
import type { Clock } from '../../lib/clock.js'
import type { EgressConfig } from '../../lib/egress/egress-config.js'
import type { Logger } from '../../lib/logger.js'
import { ConversionMetrics } from '../../metrics/conversion-metrics.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { WebhookUsers } from '../../protocol/webhook-users.js'
import type { Scheme } from '../scheme/scheme.js'
import { ConversionWebhooks } from './conversion-webhooks.js'

export interface WebhookPluginsOptions {
  readonly users: { readonly mutating: WebhookUsers; readonly validating: WebhookUsers }
  readonly egress: EgressConfig
  readonly cache: (resource: string) => FollowedView
  readonly objects: AdmissionObjects
  readonly kinds: AdmissionKinds
  readonly authorizer: Authorizer | undefined
  readonly scheme: Pick<Scheme, 'kind'>
  readonly clock: Clock
  readonly recorder: Recorder
  /** Told when a call of a webhook begins (1) and ends (-1) to wait. */
  readonly onCall: (change: 1 | -1) => void
  /** Undefined when nothing is traced. */
  readonly traced: TracedCall | undefined
  readonly logger: Logger
}

const GROUP = 'admissionregistration.k8s.io'

export class WebhookPlugins {
  readonly #options: WebhookPluginsOptions
  readonly #failures: FailureLog

  constructor(options: WebhookPluginsOptions) {
    const { clock, logger } = options
    this.#options = options
    this.#failures = new FailureLog(logger, clock)
  }

  mutating(): MutatingAdmissionWebhook {
    const { kinds } = this.#options
    return new MutatingAdmissionWebhook(this.#source('mutating'), this.#caller('admit'), kinds)
  }

  validating(): ValidatingAdmissionWebhook {
    return new ValidatingAdmissionWebhook(this.#source('validating'), this.#caller('validating'))
  }

  /** No flag says who this server is to conversion webhooks: it is nobody, as kube-apiserver is. */
  conversions(scheme: Scheme): ConversionWebhooks {
    const { clock, recorder } = this.#options
    return new ConversionWebhooks({
      scheme,
      transport: this.#transport(NO_USERS),
      metrics: new ConversionMetrics(recorder),
      failures: this.#failures,
      clock,
    })
  }

  #source(kind: 'mutating' | 'validating'): WebhookSource {
    const { cache, kinds, clock, logger, recorder } = this.#options
    const resource = `${kind}webhookconfigurations.${GROUP}`
    const onStale = staleFollowers(logger, recorder)
    return new WebhookSource({ resource, view: cache(resource), kinds, clock, onStale })
  }

  #caller(step: WebhookStep): WebhookCaller {
    const { objects, kinds, authorizer, clock, recorder, users } = this.#options
    const own = step === 'admit' ? users.mutating : users.validating
    return new WebhookCaller({
      mutating: step === 'admit',
      transport: this.#transport(own),
      objects,
      kinds,
      authorizer,
      metrics: new WebhookMetrics(recorder, step),
      failures: this.#failures,
      clock,
      reviewSchema: (version) => this.#reviewSchema(version),
    })
  }

  #transport(users: WebhookUsers): WebhookTransport {
    const { objects, egress, clock, onCall, traced } = this.#options
    return new WebhookTransport({ resolve: clusterIPResolver(objects), users, egress, clock, onCall, traced })
  }

  #reviewSchema(version: ReviewVersion): StructSchema {
    const schema = this.#options.scheme.kind('admission.k8s.io', version, 'AdmissionReview')
    assert(schema !== undefined, `there is a schema of AdmissionReview ${version}`)
    return schema
  }
}

/** Thread: pool. The conversion webhooks of a pool thread: one converter for each state of a definition, over shared connections. */
import type { FailureLog } from '../../admission/webhooks/failure-log.js'
import type { WebhookTransport } from '../../admission/webhooks/webhook-transport.js'
import { formatGroupResource, parseGroupVersion } from '../../api/group-version.js'
import type { ResourceDefinition } from '../../api/resource-definition.js'
import { newUnknown } from '../../api/status.js'
import { isConversionReviewVersion } from '../../apiextensions/conversion/conversion-review.js'
import { ConvertedCache } from '../../apiextensions/conversion/converted-cache.js'
import type { ObjectConverter } from '../../apiextensions/conversion/interface.js'
import { type ConversionCall, WebhookConverter } from '../../apiextensions/conversion/webhook-converter.js'
import type { Clock } from '../../lib/clock.js'
import type { ConversionMetrics } from '../../metrics/conversion-metrics.js'
import type { Scheme } from '../scheme/scheme.js'

export interface ConversionWebhooksOptions {
  readonly scheme: Scheme
  readonly transport: WebhookTransport
  readonly metrics: ConversionMetrics
  readonly failures: FailureLog
  readonly clock: Clock
}

export class ConversionWebhooks {
  readonly #options: ConversionWebhooksOptions
  readonly #cache = new ConvertedCache()

  constructor(options: ConversionWebhooksOptions) {
    this.#options = options
  }

  /** The converter of a definition as it is now; it is not used once the definition has changed. */
  converterOf(definition: ResourceDefinition): ObjectConverter {
    const { scheme, metrics, failures } = this.#options
    const name = formatGroupResource(definition)
    const { webhook } = scheme.definitionOf(definition)?.spec?.conversion ?? {}
    if (webhook === undefined || webhook === null) throw newUnknown(`${name} has no conversion webhook`)
    return new WebhookConverter({
      clientConfig: webhook.clientConfig ?? {},
      reviewVersion: webhook.conversionReviewVersions?.find(isConversionReviewVersion),
      definitionKey: `${definition.uid}/${definition.revision}`,
      post: (call) => this.#post(call),
      prune: (object, apiVersion) => {
        const { version } = parseGroupVersion(apiVersion)!
        scheme.customVersion(definition, version)?.schema.admit(object, { origin: 'converted' })
      },
      cache: this.#cache,
      ended: (from, to, durationMs, failure, why) => {
        metrics.ended(name, versionOf(from), versionOf(to), durationMs, failure)
        if (failure !== undefined) failures.failed(name, `conversion_webhook_for_${name}`, 'Fail', why)
      },
      clock: this.#options.clock,
    })
  }

  #post({ clientConfig, body, timeoutMs, maxAnswerBytes, signal }: ConversionCall): Promise<Uint8Array> {
    return this.#options.transport.post({ clientConfig, body, timeoutMs, maxAnswerBytes, signal })
  }
}

const versionOf = (apiVersion: string): string => parseGroupVersion(apiVersion)?.version ?? ''

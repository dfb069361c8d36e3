/** Thread: any. One webhook of a configuration, compiled from its JSON when it comes, so that requests find it ready. */
import type {
  MatchCondition,
  MutatingWebhook,
  RuleWithOperations,
  WebhookClientConfig,
} from '../../api/generated/kinds/admissionregistration.v1.js'
import type { Selector } from '../../api/selector.js'
import type { Clock } from '../../lib/clock.js'
import { ConditionMatcher } from '../expressions/condition-matcher.js'
import { selectorOf } from '../matching/match-resources.js'
import type { RuledEntry } from '../matching/rule-match.js'

export type ReviewVersion = 'v1' | 'v1beta1'

export interface Webhook extends RuledEntry {
  readonly name: string
  readonly configuration: string
  /** Of all webhooks different: configuration, name, and which of that name it is. */
  readonly uid: string
  readonly clientConfig: WebhookClientConfig
  readonly rules: readonly RuleWithOperations[]
  readonly matchPolicy: string
  readonly namespaceSelector: Selector
  readonly objectSelector: Selector
  readonly conditions: ConditionMatcher | undefined
  readonly ignoresFailures: boolean
  readonly timeoutSeconds: number
  /** The first version of AdmissionReview in its list that this server speaks; undefined when it lists none. */
  readonly reviewVersion: ReviewVersion | undefined
  readonly sideEffects: string | undefined
  readonly isReinvoked: boolean
}

interface RawConfiguration {
  readonly metadata?: { readonly name?: string }
  readonly webhooks?: readonly MutatingWebhook[] | null
}

const DEFAULT_TIMEOUT_SECONDS = 10

/** The webhooks of a configuration as it is stored, mutating or validating. */
export function webhooksOf(raw: RawConfiguration, clock: Clock): Webhook[] {
  const configuration = raw.metadata?.name ?? ''
  const seen = new Map<string, number>()
  return (raw.webhooks ?? []).map((hook) => {
    const { name = '' } = hook
    const nth = seen.get(name) ?? 0
    seen.set(name, nth + 1)
    const conditions: readonly MatchCondition[] = hook.matchConditions ?? []
    return {
      name,
      configuration,
      uid: `${configuration}/${name}/${nth}`,
      clientConfig: hook.clientConfig ?? {},
      rules: hook.rules ?? [],
      matchPolicy: hook.matchPolicy ?? 'Equivalent',
      namespaceSelector: selectorOf(hook.namespaceSelector ?? {}),
      objectSelector: selectorOf(hook.objectSelector ?? {}),
      conditions: conditions.length === 0 ? undefined : new ConditionMatcher(conditions, clock),
      ignoresFailures: hook.failurePolicy === 'Ignore',
      timeoutSeconds: hook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
      reviewVersion: hook.admissionReviewVersions?.find(isReviewVersion),
      sideEffects: hook.sideEffects ?? undefined,
      isReinvoked: hook.reinvocationPolicy === 'IfNeeded',
    }
  })
}

const isReviewVersion = (version: string): version is ReviewVersion => version === 'v1' || version === 'v1beta1'

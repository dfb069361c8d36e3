/** Thread: pool. Webhook configurations, mutating and validating: where to ask, about what. */
import { duplicate, FieldPath, invalid, required } from '../../../api/field-error.js'
import type { LabelSelectorObject } from '../../../api/label-selector-object.js'
import type { KubeObject } from '../../../api/object.js'
import { type Errors, each, type List } from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { isDns1123Subdomain } from '../../../api/validation/names.js'
import {
  clientConfigErrors,
  reviewVersionsErrors,
  type WebhookClientConfig,
} from '../../../api/validation/webhook-client.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { choice, conditionErrors, defaultRule, type MatchCondition, type Rule, ruleErrors } from '../match-rules.js'

interface Webhook {
  name?: string
  clientConfig?: WebhookClientConfig
  rules?: List<Rule>
  failurePolicy?: string
  matchPolicy?: string
  reinvocationPolicy?: string
  /** A pointer that Go prints as null. */
  sideEffects?: string | null
  timeoutSeconds?: number
  namespaceSelector?: LabelSelectorObject
  objectSelector?: LabelSelectorObject
  admissionReviewVersions?: List<string>
  matchConditions?: List<MatchCondition>
}

interface WebhookConfiguration extends KubeObject {
  webhooks?: List<Webhook>
}

const SIDE_EFFECTS = ['None', 'NoneOnDryRun']

function nameErrors(name: string, path: FieldPath): Errors {
  if (name === '') return [required(path)]
  const reasons = isDns1123Subdomain(name)
  if (reasons.length > 0) return [invalid(path, name, reasons.join(','))]
  return name.split('.').length < 3 ? [invalid(path, name, 'should be a domain with at least three segments')] : []
}

function webhookErrors(hook: Webhook, at: FieldPath): Errors {
  const errors = clientConfigErrors(hook.clientConfig ?? {}, at.child('clientConfig'))
  const { timeoutSeconds: timeout, sideEffects } = hook
  if ((sideEffects ?? undefined) === undefined) errors.push(required(at.child('sideEffects')))
  if (timeout !== undefined && (timeout < 1 || timeout > 30))
    errors.push(invalid(at.child('timeoutSeconds'), timeout, 'must be between 1 and 30 seconds'))
  return [
    ...errors,
    ...nameErrors(hook.name ?? '', at.child('name')),
    ...each(hook.rules, at.child('rules'), ruleErrors),
    ...choice(hook.failurePolicy, ['Fail', 'Ignore'], at.child('failurePolicy')),
    ...choice(hook.matchPolicy, ['Equivalent', 'Exact'], at.child('matchPolicy')),
    ...choice(hook.reinvocationPolicy, ['IfNeeded', 'Never'], at.child('reinvocationPolicy')),
    ...choice(sideEffects, SIDE_EFFECTS, at.child('sideEffects')),
    ...labelSelectorErrors(hook.namespaceSelector, at.child('namespaceSelector')),
    ...labelSelectorErrors(hook.objectSelector, at.child('objectSelector')),
    ...conditionErrors(hook.matchConditions, at.child('matchConditions')),
    ...reviewVersionsErrors(hook.admissionReviewVersions, at.child('admissionReviewVersions')),
  ]
}

const rulesOf = (mutating: boolean): ResourceRules => ({
  allowUnconditionalUpdate: false,
  metadataOnUpdate: 'changes',
  generationFields: ['webhooks'],
  emptyIsChange: true,
  setDefaults: (object) => {
    for (const hook of (object as WebhookConfiguration).webhooks ?? []) {
      hook.failurePolicy ??= 'Fail'
      hook.matchPolicy ??= 'Equivalent'
      hook.namespaceSelector ??= {}
      hook.objectSelector ??= {}
      hook.timeoutSeconds ??= 10
      if (mutating) hook.reinvocationPolicy ??= 'Never'
      for (const rule of hook.rules ?? []) defaultRule(rule)
      if (hook.clientConfig?.service) hook.clientConfig.service.port ??= 443
    }
  },
  validate: (object) => {
    const names = new Set<string>()
    return each((object as WebhookConfiguration).webhooks, FieldPath.of('webhooks'), (hook, at) => {
      const { name = '' } = hook
      const doubled = name !== '' && names.has(name) ? [duplicate(at.child('name'), name)] : []
      names.add(name)
      return [...webhookErrors(hook, at), ...doubled]
    })
  },
  table: tableOf<WebhookConfiguration>(
    text('Webhooks', 'How many webhooks it has.', ({ webhooks }) => webhooks?.length ?? 0, { type: 'integer' }),
    age(),
  ),
})

export const mutatingWebhookConfigurationRules = rulesOf(true)
export const validatingWebhookConfigurationRules = rulesOf(false)

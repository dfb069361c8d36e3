/** Thread: pool. Webhook configurations, mutating and validating: where to ask, about what. */

import { duplicate, FieldPath, invalid, required } from '../../../api/field-error.js'
import type {
  MatchCondition,
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../../api/generated/kinds/admissionregistration.v1.js'
import { type Errors, each, type List } from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { isDns1123Subdomain } from '../../../api/validation/names.js'
import { clientConfigErrors, reviewVersionsErrors } from '../../../api/validation/webhook-client.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { choice, conditionErrors, defaultRule, ruleErrors } from '../match-rules.js'

const SIDE_EFFECTS = ['None', 'NoneOnDryRun']

function nameErrors(name: string, path: FieldPath): Errors {
  if (name === '') return [required(path)]
  const reasons = isDns1123Subdomain(name)
  if (reasons.length > 0) return [invalid(path, name, reasons.join(','))]
  return name.split('.').length < 3 ? [invalid(path, name, 'should be a domain with at least three segments')] : []
}

function webhookErrors(hook: MutatingWebhook, at: FieldPath, stored: List<MatchCondition>): Errors {
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
    ...conditionErrors(hook.matchConditions, at.child('matchConditions'), { stored }),
    ...reviewVersionsErrors(hook.admissionReviewVersions, at.child('admissionReviewVersions')),
  ]
}

function configurationErrors({ webhooks }: MutatingWebhookConfiguration, stored: List<MatchCondition>): Errors {
  const names = new Set<string>()
  return each(webhooks, FieldPath.of('webhooks'), (hook, at) => {
    const { name = '' } = hook
    const doubled = name !== '' && names.has(name) ? [duplicate(at.child('name'), name)] : []
    names.add(name)
    return [...webhookErrors(hook, at, stored), ...doubled]
  })
}

/** A webhook that changes objects has one field more than one that looks at them. */
const rulesOf = (mutating: boolean): ResourceRules<MutatingWebhookConfiguration> => ({
  allowUnconditionalUpdate: false,
  metadataOnUpdate: 'changes',
  generationFields: ['webhooks'],
  emptyIsChange: true,
  setDefaults: (object) => {
    for (const hook of object.webhooks ?? []) {
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
  validate: (object) => configurationErrors(object, []),
  validateUpdate: (object, old) =>
    configurationErrors(
      object,
      (old.webhooks ?? []).flatMap(({ matchConditions }) => matchConditions ?? []),
    ),
  table: tableOf<MutatingWebhookConfiguration>(
    text('Webhooks', 'How many webhooks it has.', ({ webhooks }) => webhooks?.length ?? 0, { type: 'integer' }),
    age(),
  ),
})

export const mutatingWebhookConfigurationRules = rulesOf(true)
export const validatingWebhookConfigurationRules: ResourceRules<ValidatingWebhookConfiguration> = rulesOf(false)

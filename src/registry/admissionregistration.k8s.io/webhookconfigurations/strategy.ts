/** Thread: pool. Webhook configurations, mutating and validating: where to ask, about what. */
import { duplicate, FieldPath, invalid, required } from '../../../api/field-error.js'
import type { LabelSelectorObject } from '../../../api/label-selector-object.js'
import type { KubeObject } from '../../../api/object.js'
import { because, type Errors, each, type List, portNumber } from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { isDns1035Label, isDns1123Subdomain } from '../../../api/validation/names.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { choice, conditionErrors, defaultRule, type MatchCondition, type Rule, ruleErrors } from '../match-rules.js'

interface Service {
  name?: string
  namespace?: string
  path?: string
  port?: number
}

interface Webhook {
  name?: string
  clientConfig?: { url?: string; service?: Service }
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
const KNOWN_VERSIONS = ['v1', 'v1beta1']
const URL_PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(\?[^#]*)?(#.*)?$/s

function nameErrors(name: string, path: FieldPath): Errors {
  if (name === '') return [required(path)]
  const reasons = isDns1123Subdomain(name)
  if (reasons.length > 0) return [invalid(path, name, reasons.join(','))]
  return name.split('.').length < 3 ? [invalid(path, name, 'should be a domain with at least three segments')] : []
}

function urlErrors(url: string, path: FieldPath): Errors {
  const [, scheme = '', authority = '', query, fragment] = URL_PARTS.exec(url) ?? []
  const errors: Errors = []
  const wrong = (why: string): number => errors.push(invalid(path, url, why))
  if (scheme.toLowerCase() !== 'https') wrong("'https' is the only allowed URL scheme")
  if (authority.replace(/^.*@/, '') === '') wrong('host must be specified')
  if (authority.includes('@')) wrong('user information is not permitted')
  if ((fragment ?? '').length > 1) wrong('fragments are not permitted')
  if ((query ?? '').length > 1) wrong('query parameters are not permitted')
  return errors
}

function pathErrors(target: string, path: FieldPath): Errors {
  if (target === '' || target === '/') return []
  const errors = target.startsWith('/') ? [] : [invalid(path, target, "must start with a '/'")]
  const steps = target.slice(1).replace(/\/$/, '').split('/')
  return [
    ...errors,
    ...steps.flatMap((step) => because(step === '' ? ['may not be empty'] : isDns1123Subdomain(step), path, target)),
  ]
}

/** Kubernetes reports a missing name as a missing namespace and the other way round; clients see the same here. */
const serviceErrors = ({ name = '', namespace = '', path, port }: Service, at: FieldPath): Errors => [
  ...(namespace === '' ? [required(at.child('name'))] : []),
  ...(name === '' ? [required(at.child('namespace'))] : []),
  ...(port === undefined ? [] : portNumber(port, at.child('port'))),
  ...(path === undefined ? [] : pathErrors(path, at.child('path'))),
]

function versionErrors(versions: List<string>, path: FieldPath): Errors {
  if ((versions?.length ?? 0) === 0) return [required(path, `must specify one of ${KNOWN_VERSIONS.join(', ')}`)]
  const seen = new Set<string>()
  const errors = each(versions, path, (version, at) => {
    if (seen.has(version)) return [invalid(at, version, 'duplicate version')]
    seen.add(version)
    return because(isDns1035Label(version), at, version)
  })
  const known = versions!.some((version) => KNOWN_VERSIONS.includes(version))
  return known
    ? errors
    : [...errors, invalid(path, versions, `must include at least one of ${KNOWN_VERSIONS.join(', ')}`)]
}

function webhookErrors(hook: Webhook, at: FieldPath): Errors {
  const { url, service } = hook.clientConfig ?? {}
  const client = at.child('clientConfig')
  const errors: Errors = []
  if ((url === undefined) === !service) errors.push(required(client, 'exactly one of url or service is required'))
  else if (url !== undefined) errors.push(...urlErrors(url, client.child('url')))
  else errors.push(...serviceErrors(service!, client.child('service')))
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
    ...versionErrors(hook.admissionReviewVersions, at.child('admissionReviewVersions')),
  ]
}

const rulesOf = (mutating: boolean): ResourceRules => ({
  allowUnconditionalUpdate: false,
  metadataOnUpdate: 'changes',
  generationFields: ['webhooks'],
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

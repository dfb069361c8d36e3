/**
 * Thread: main. The file of --authorization-config: text to plain data, or everything that is wrong with it, by the rules by
 * which kube-apiserver checks it. The kubeconfigs that it names are read with it.
 */
import path from 'node:path'
import { BOOL } from '../../api/cel/types.js'
import { parseDurationMs } from '../../api/duration.js'
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  OMITTED,
  required,
  tooMany,
} from '../../api/field-error.js'
import { isDns1123Subdomain } from '../../api/validation/names.js'
import {
  AUTHORIZATION_MODES,
  type AuthorizationConfig,
  type AuthorizationMode,
  type AuthorizerConfig,
  type WebhookAuthorizerConfig,
} from '../../protocol/authorization-config.js'
import type { Kubeconfig } from '../../protocol/kubeconfig.js'
import { compileConfigured } from '../configuration-expression.js'
import { type ConfigurationObject, readConfiguration } from '../configuration-object.js'
import { inClusterConfig, KubeconfigError, readKubeconfig } from '../kubeconfig.js'
import { REQUEST_ENVIRONMENT } from './match-conditions.js'

const MAX_CONDITIONS = 64
const MAX_TIMEOUT_MS = 30_000
const DEFAULT_AUTHORIZED_TTL = '5m'
const DEFAULT_UNAUTHORIZED_TTL = '30s'

/** Throws ConfigurationErrors. */
export const authorizationConfiguration = (text: string): AuthorizationConfig =>
  readConfiguration(text, 'AuthorizationConfiguration', (root, errors) => {
    const entries = root.objects('authorizers')
    if (entries.length === 0)
      errors.push(required(root.path.child('authorizers'), 'at least one authorization mode must be defined'))
    const seen = { types: new Set<string>(), names: new Set<string>() }
    return { authorizers: entries.flatMap((entry) => authorizerOf(entry, seen, errors)), alwaysAllowPaths: [] }
  })

interface Seen {
  readonly types: Set<string>
  readonly names: Set<string>
}

function authorizerOf(entry: ConfigurationObject, seen: Seen, errors: FieldError[]): AuthorizerConfig[] {
  const [type, name] = [entry.text('type'), entry.text('name')]
  const typePath = entry.path.child('type')
  if (type === '') errors.push(required(typePath))
  else if (!isMode(type)) errors.push(notSupported(typePath, type, AUTHORIZATION_MODES))
  else if (type !== 'Webhook' && seen.types.has(type)) errors.push(duplicate(typePath, type))
  seen.types.add(type)
  errors.push(...nameErrors(name, entry.path.child('name'), seen.names))
  if (type !== 'Webhook') {
    if (entry.isGiven('webhook'))
      errors.push(invalid(entry.path.child('webhook'), OMITTED, 'may only be specified when type=Webhook'))
    return isPlain(type) ? [{ type, name }] : []
  }
  const webhook = entry.object('webhook')
  if (webhook !== undefined) return [webhookOf(name, webhook, errors)]
  errors.push(required(entry.path.child('webhook'), 'required when type=Webhook'))
  return []
}

const isMode = (type: string): type is AuthorizationMode => (AUTHORIZATION_MODES as readonly string[]).includes(type)

const isPlain = (type: string): type is Exclude<AuthorizationMode, 'Webhook'> => isMode(type) && type !== 'Webhook'

function nameErrors(name: string, at: FieldPath, seen: Set<string>): FieldError[] {
  if (name === '') return [required(at)]
  if (seen.has(name)) return [duplicate(at, name)]
  seen.add(name)
  const reasons = isDns1123Subdomain(name)
  return reasons.length === 0 ? [] : [invalid(at, name, `authorizer name is invalid: ${reasons.join(', ')}`)]
}

function webhookOf(name: string, webhook: ConfigurationObject, errors: FieldError[]): WebhookAuthorizerConfig {
  const chosen = <T extends string>(field: string, values: readonly T[]): T => {
    const value = webhook.text(field)
    if (value === '') errors.push(required(webhook.path.child(field)))
    else if (!(values as readonly string[]).includes(value))
      errors.push(notSupported(webhook.path.child(field), value, values))
    return value as T
  }
  const isKept = (field: string): boolean => webhook.givenBoolean(field) ?? true
  const timeoutMs = durationOf(webhook, 'timeout', '', errors)
  if (timeoutMs > MAX_TIMEOUT_MS)
    errors.push(invalid(webhook.path.child('timeout'), webhook.text('timeout'), 'must be > 0s and <= 30s'))
  const authorizedTtlMs = durationOf(webhook, 'authorizedTTL', DEFAULT_AUTHORIZED_TTL, errors)
  const unauthorizedTtlMs = durationOf(webhook, 'unauthorizedTTL', DEFAULT_UNAUTHORIZED_TTL, errors)
  return {
    type: 'Webhook',
    name,
    connection: connectionOf(webhook.part('connectionInfo'), errors),
    version: chosen('subjectAccessReviewVersion', ['v1', 'v1beta1']),
    authorizedTtlMs: isKept('cacheAuthorizedRequests') ? authorizedTtlMs : 0,
    unauthorizedTtlMs: isKept('cacheUnauthorizedRequests') ? unauthorizedTtlMs : 0,
    timeoutMs,
    failurePolicy: chosen('failurePolicy', ['NoOpinion', 'Deny']),
    matchConditions: conditionsOf(webhook, errors),
  }
}

function durationOf(webhook: ConfigurationObject, field: string, preset: string, errors: FieldError[]): number {
  const text = webhook.text(field) || preset
  const at = webhook.path.child(field)
  const durationMs = parseDurationMs(text || '0s')
  if (durationMs === undefined) errors.push(invalid(at, text, 'must be a duration such as 3s or 5m'))
  else if (durationMs === 0) errors.push(required(at))
  else if (durationMs < 0) errors.push(invalid(at, text, 'must be > 0s'))
  return durationMs ?? 0
}

function conditionsOf(webhook: ConfigurationObject, errors: FieldError[]): readonly string[] {
  const conditions = webhook.objects('matchConditions')
  const version = webhook.text('matchConditionSubjectAccessReviewVersion')
  const versionPath = webhook.path.child('matchConditionSubjectAccessReviewVersion')
  if (version === '') {
    if (conditions.length > 0) errors.push(required(versionPath, 'required if match conditions are specified'))
  } else if (version !== 'v1') errors.push(notSupported(versionPath, version, ['v1']))
  if (conditions.length > MAX_CONDITIONS)
    errors.push(tooMany(webhook.path.child('matchConditions'), conditions.length, MAX_CONDITIONS))
  return conditions.map((condition) => {
    const expression = condition.text('expression')
    const at = condition.path.child('expression')
    if (expression.trim() === '') errors.push(required(at))
    else {
      const { error } = compileConfigured(expression, REQUEST_ENVIRONMENT, BOOL)
      if (error !== '') errors.push(invalid(at, expression, error))
    }
    return expression
  })
}

/** Stands for a server that could not be read: there is an error, so nobody uses it. */
const NO_CONNECTION: Kubeconfig = {
  server: '',
  serverName: undefined,
  insecureSkipVerify: false,
  ca: undefined,
  clientCertificate: undefined,
  clientKey: undefined,
  token: undefined,
  basic: undefined,
}

function connectionOf(info: ConfigurationObject, errors: FieldError[]): Kubeconfig {
  const [type, file] = [info.text('type'), info.givenText('kubeConfigFile')]
  const [typePath, filePath] = [info.path.child('type'), info.path.child('kubeConfigFile')]
  const readable = (at: FieldPath, value: string, read: () => Kubeconfig): Kubeconfig => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof KubeconfigError)) throw error
      errors.push(invalid(at, value, error.message))
      return NO_CONNECTION
    }
  }
  switch (type) {
    case 'KubeConfigFile':
      if (file === undefined || file === '') errors.push(required(filePath))
      else if (!path.isAbsolute(file)) errors.push(invalid(filePath, file, 'must be an absolute path'))
      else return readable(filePath, file, () => readKubeconfig(file))
      return NO_CONNECTION
    case 'InClusterConfig':
      if (file !== undefined) errors.push(invalid(filePath, file, 'can only be set when type=KubeConfigFile'))
      return readable(typePath, type, () => inClusterConfig())
    case '':
      errors.push(required(typePath))
      return NO_CONNECTION
    default:
      errors.push(notSupported(typePath, type, ['KubeConfigFile', 'InClusterConfig']))
      return NO_CONNECTION
  }
}

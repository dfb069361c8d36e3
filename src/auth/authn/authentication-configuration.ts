/**
 * Thread: main. The file of --authentication-config: text to plain data, or everything that is wrong with it, by the rules by
 * which kube-apiserver checks it. jwt-configuration.ts has those of one issuer.
 */
import { duplicate, type FieldError, invalid, OMITTED, required, tooMany } from '../../api/field-error.js'
import type { JwtAuthenticatorConfig } from '../../protocol/server-credentials.js'
import { type ConfigurationObject, readConfiguration } from '../configuration-object.js'
import { jwtConfiguration } from './jwt-configuration.js'

const MAX_ISSUERS = 64

export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtAuthenticatorConfig[]
  /** Undefined: the flag --anonymous-auth decides. */
  readonly anonymous: { readonly enabled: boolean; readonly paths: readonly string[] } | undefined
}

/** `ownIssuers` are those of service-account tokens, whose tokens nobody else may judge. Throws ConfigurationErrors. */
export const authenticationConfiguration = (text: string, ownIssuers: readonly string[]): AuthenticationConfiguration =>
  readConfiguration(text, 'AuthenticationConfiguration', (root, errors) => ({
    jwt: issuersOf(root, ownIssuers, errors),
    anonymous: anonymousOf(root, errors),
  }))

function issuersOf(
  root: ConfigurationObject,
  ownIssuers: readonly string[],
  errors: FieldError[],
): readonly JwtAuthenticatorConfig[] {
  const entries = root.objects('jwt')
  if (entries.length > MAX_ISSUERS) errors.push(tooMany(root.path.child('jwt'), entries.length, MAX_ISSUERS))
  const seen = new Set<string>()
  const unique = (entry: ConfigurationObject, name: string, value: string): void => {
    const key = `${name} ${value}`
    if (value !== '' && seen.has(key)) errors.push(duplicate(entry.path.child('issuer', name), value))
    seen.add(key)
  }
  return entries.map((entry) => {
    const config = jwtConfiguration(entry, ownIssuers, errors)
    unique(entry, 'url', config.issuer.url)
    unique(entry, 'discoveryURL', config.issuer.discoveryUrl)
    return config
  })
}

function anonymousOf(root: ConfigurationObject, errors: FieldError[]): AuthenticationConfiguration['anonymous'] {
  const anonymous = root.object('anonymous')
  if (anonymous === undefined) return undefined
  const enabled = anonymous.givenBoolean('enabled') ?? false
  const conditions = anonymous.objects('conditions')
  const paths = conditions.map((condition) => {
    const path = condition.text('path')
    // A path that is none would open nothing, and its author thinks that it opens something.
    if (path === '') errors.push(required(condition.path.child('path')))
    else if (!path.startsWith('/')) errors.push(invalid(condition.path.child('path'), path, 'must start with /'))
    return path
  })
  if (!enabled && paths.length > 0)
    errors.push(
      invalid(anonymous.path.child('conditions'), OMITTED, 'enabled should be set to true when conditions are defined'),
    )
  return { enabled, paths }
}

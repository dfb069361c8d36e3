/** Thread: any. Where a webhook is: a URL or a service. */

import { type FieldPath, invalid, required } from '../field-error.js'
import type { ServiceReference, WebhookClientConfig } from '../generated/kinds/admissionregistration.v1.js'
import { because, type Errors, each, type List, portNumber } from './checks.js'
import { isDns1035Label, isDns1123Subdomain } from './names.js'

/** Of reviews: those that this server speaks. */
const KNOWN_VERSIONS = ['v1', 'v1beta1']
const URL_PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(\?[^#]*)?(#.*)?$/s

export function clientConfigErrors({ url, service }: WebhookClientConfig, path: FieldPath): Errors {
  if ((url !== undefined) === (service !== undefined))
    return [required(path, 'exactly one of url or service is required')]
  return url !== undefined ? urlErrors(url, path.child('url')) : serviceErrors(service ?? {}, path.child('service'))
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
const serviceErrors = ({ name = '', namespace = '', path, port }: ServiceReference, at: FieldPath): Errors => [
  ...(namespace === '' ? [required(at.child('name'))] : []),
  ...(name === '' ? [required(at.child('namespace'))] : []),
  ...(port === undefined ? [] : portNumber(port, at.child('port'))),
  ...(path === undefined ? [] : pathErrors(path, at.child('path'))),
]

export const hasKnownVersion = (versions: List<string>): boolean =>
  (versions ?? []).some((version) => KNOWN_VERSIONS.includes(version))

export function reviewVersionsErrors(versions: List<string>, path: FieldPath, needsKnown = true): Errors {
  if ((versions?.length ?? 0) === 0) return [required(path, `must specify one of ${KNOWN_VERSIONS.join(', ')}`)]
  const seen = new Set<string>()
  const errors = each(versions, path, (version, at) => {
    if (seen.has(version)) return [invalid(at, version, 'duplicate version')]
    seen.add(version)
    return because(isDns1035Label(version), at, version)
  })
  return !needsKnown || hasKnownVersion(versions)
    ? errors
    : [...errors, invalid(path, versions, `must include at least one of ${KNOWN_VERSIONS.join(', ')}`)]
}

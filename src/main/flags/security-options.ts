/** Thread: main. The flags of TLS and authentication, and what is wrong with their values. */

import { parseDurationMs } from '../../api/duration.js'
import { TLS_VERSIONS, unknownSuites } from '../certificates/cipher-suites.js'
import type { Flag, FlagValues } from './flags.js'

const TLS = 'TLS'
const AUTHENTICATION = 'Authentication'

const text = (name: string, group: string, help: string, preset = ''): Flag => ({
  name,
  type: 'string',
  default: preset,
  group,
  help,
})
const list = (name: string, help: string, preset = '', group = AUTHENTICATION): Flag => ({
  name,
  type: 'list',
  default: preset,
  group,
  help,
})
const boolean = (name: string, group: string, preset: boolean, help: string): Flag => ({
  name,
  type: 'boolean',
  default: String(preset),
  group,
  help,
})
const duration = (name: string, preset: string, help: string): Flag => ({
  name,
  type: 'duration',
  default: preset,
  group: AUTHENTICATION,
  help,
})

export const DEFAULT_ISSUER = 'https://kubernetes.default.svc'

/** Names that kube-apiserver has mean here what they mean there. */
export const SECURITY_FLAGS: readonly Flag[] = [
  text('cert-dir', TLS, 'Where certificates, keys and the admin’s kubeconfig are made. (default: certs in --data-dir)'),
  text('tls-cert-file', TLS, 'The certificate to serve with (PEM); without it one is made in --cert-dir.'),
  text('tls-private-key-file', TLS, 'The key of the certificate (PEM).'),
  text('tls-min-version', TLS, 'VersionTLS12 or VersionTLS13.', 'VersionTLS12'),
  list('tls-cipher-suites', 'Cipher suites of TLS 1.2, by Go’s names; without it the safe ones.', '', TLS),
  boolean('insecure-http', TLS, false, 'Plain HTTP instead of TLS; on a loopback --bind-address only.'),
  text(
    'client-ca-file',
    AUTHENTICATION,
    'Authorities of client certificates (PEM): the common name is the user, organisations are groups. Without it, the one made in --cert-dir.',
  ),
  text(
    'authentication-config',
    AUTHENTICATION,
    'File of an AuthenticationConfiguration: issuers of tokens, and who may come without one. Read again when it changes; instead of --oidc-*.',
  ),
  boolean('anonymous-auth', AUTHENTICATION, true, 'Whether requests without credentials are made by system:anonymous.'),
  text('token-auth-file', AUTHENTICATION, 'CSV file of static tokens: token,user,uid,"group1,group2".'),
  boolean(
    'enable-bootstrap-token-auth',
    AUTHENTICATION,
    false,
    'Whether secrets of type bootstrap.kubernetes.io/token in kube-system are tokens.',
  ),
  list(
    'service-account-issuer',
    'Issuer of service-account tokens; the first signs, all are accepted.',
    DEFAULT_ISSUER,
  ),
  text('service-account-jwks-uri', AUTHENTICATION, 'Where others find the keys, when it is not at this server.'),
  list('service-account-key-file', 'Keys that verify service-account tokens (PEM); without it that which signs.'),
  text(
    'service-account-signing-key-file',
    AUTHENTICATION,
    'The key that signs service-account tokens (PEM); without it one is made in --cert-dir.',
  ),
  boolean(
    'service-account-lookup',
    AUTHENTICATION,
    true,
    'Whether tokens kept in secrets are good only while their secret and account exist.',
  ),
  duration(
    'service-account-max-token-expiration',
    '0',
    'The longest life of a service-account token, from 1h on; 0: no limit.',
  ),
  boolean(
    'service-account-extend-token-expiration',
    AUTHENTICATION,
    true,
    'Whether the tokens that pods get by injection live for a year.',
  ),
  list('api-audiences', 'Audiences that tokens for this server may name; without it the issuers.'),
  text('oidc-issuer-url', AUTHENTICATION, 'The OpenID Connect issuer; https.'),
  text('oidc-client-id', AUTHENTICATION, 'The audience that ID tokens must name.'),
  text('oidc-ca-file', AUTHENTICATION, 'The authorities of the issuer’s certificate (PEM).'),
  text('oidc-username-claim', AUTHENTICATION, 'The claim that is the user’s name.', 'sub'),
  text(
    'oidc-username-prefix',
    AUTHENTICATION,
    'Put before user names; - for none. (default: the issuer and #, unless the claim is email)',
  ),
  text('oidc-groups-claim', AUTHENTICATION, 'The claim that lists the user’s groups.'),
  text('oidc-groups-prefix', AUTHENTICATION, 'Put before groups.'),
  {
    name: 'oidc-required-claim',
    type: 'map',
    default: '',
    group: AUTHENTICATION,
    help: 'Claims that must be so: key=value.',
  },
  list('oidc-signing-algs', 'The algorithms that ID tokens may be signed with.', 'RS256'),
  text('authentication-token-webhook-config-file', AUTHENTICATION, 'Kubeconfig of the webhook that knows tokens.'),
  text(
    'authentication-token-webhook-version',
    AUTHENTICATION,
    'The version of TokenReview to send: v1 or v1beta1.',
    'v1beta1',
  ),
  duration('authentication-token-webhook-cache-ttl', '2m', 'How long the webhook’s answers are remembered.'),
  text(
    'requestheader-client-ca-file',
    AUTHENTICATION,
    'Authorities of front proxies (PEM), which name users in headers. Without it, the one made in --cert-dir.',
  ),
  list('requestheader-allowed-names', 'Common names that front proxies may have; empty: any.'),
  list('requestheader-username-headers', 'Headers that name the user, X-Remote-User for one.'),
  list('requestheader-uid-headers', 'Headers with the user’s uid, X-Remote-Uid for one.'),
  list('requestheader-group-headers', 'Headers that name groups, X-Remote-Group for one.'),
  list('requestheader-extra-headers-prefix', 'Prefixes of headers with more about the user, X-Remote-Extra- for one.'),
  text(
    'proxy-client-cert-file',
    AUTHENTICATION,
    'The certificate shown to extension API servers (PEM); without it one is made in --cert-dir.',
  ),
  text('proxy-client-key-file', AUTHENTICATION, 'The key of that certificate (PEM).'),
]

/** Flags whose value is a file, or several, that must be there. */
export const SECURITY_FILES: readonly string[] = [
  'tls-cert-file',
  'tls-private-key-file',
  'client-ca-file',
  'token-auth-file',
  'service-account-key-file',
  'service-account-signing-key-file',
  'oidc-ca-file',
  'authentication-token-webhook-config-file',
  'requestheader-client-ca-file',
  'proxy-client-cert-file',
  'proxy-client-key-file',
]

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])
const OIDC_ALGORITHMS = new Set(['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'])
const HOUR_MS = 3600_000

export function securityErrors(values: FlagValues): string[] {
  const value = (name: string): string => values.get(name) ?? ''
  const items = (name: string): string[] =>
    value(name)
      .split(',')
      .filter((one) => one !== '')
  const errors: string[] = []
  const host = value('bind-address')
  if (value('insecure-http') === 'true') {
    if (!LOOPBACK.has(host)) errors.push(`--insecure-http: plain HTTP is served on loopback only, not on ${host}`)
    for (const name of ['tls-cert-file', 'client-ca-file', 'requestheader-client-ca-file'])
      if (value(name) !== '') errors.push(`--${name} is of no use with --insecure-http`)
  }
  if (!TLS_VERSIONS.some((version) => version === value('tls-min-version')))
    errors.push(`--tls-min-version must be ${TLS_VERSIONS.join(' or ')}`)
  for (const name of unknownSuites(items('tls-cipher-suites')))
    errors.push(`--tls-cipher-suites: ${JSON.stringify(name)} is unknown or not safe`)
  for (const issuer of items('service-account-issuer'))
    if (issuer.includes(':') && !URL.canParse(issuer))
      errors.push(`--service-account-issuer: ${JSON.stringify(issuer)} contains a colon but is no URL`)
  if (items('service-account-issuer').length === 0) errors.push('--service-account-issuer must not be empty')
  const jwksUri = value('service-account-jwks-uri')
  if (jwksUri !== '' && !(URL.canParse(jwksUri) && jwksUri.startsWith('https://')))
    errors.push('--service-account-jwks-uri must be a URL that starts with https://')
  if (value('service-account-key-file') !== '' && value('service-account-signing-key-file') === '')
    errors.push('--service-account-key-file needs --service-account-signing-key-file')
  const longest = parseDurationMs(value('service-account-max-token-expiration')) ?? 0
  if (longest !== 0 && longest < HOUR_MS) errors.push('--service-account-max-token-expiration must be at least 1h')
  return [...errors, ...oidcErrors(value, items), ...frontProxyErrors(value, items), ...webhookErrors(value)]
}

function oidcErrors(value: (name: string) => string, items: (name: string) => string[]): string[] {
  const errors: string[] = []
  const issuer = value('oidc-issuer-url')
  if ((issuer === '') !== (value('oidc-client-id') === ''))
    errors.push('--oidc-issuer-url and --oidc-client-id must be given together')
  if (issuer !== '' && !issuer.startsWith('https://')) errors.push('--oidc-issuer-url must start with https://')
  if (items('service-account-issuer').includes(issuer))
    errors.push('--oidc-issuer-url must not be the issuer of service-account tokens')
  for (const algorithm of items('oidc-signing-algs'))
    if (!OIDC_ALGORITHMS.has(algorithm)) errors.push(`--oidc-signing-algs: ${JSON.stringify(algorithm)} is unknown`)
  return errors
}

function frontProxyErrors(value: (name: string) => string, items: (name: string) => string[]): string[] {
  if ((value('proxy-client-cert-file') === '') !== (value('proxy-client-key-file') === ''))
    return ['--proxy-client-cert-file and --proxy-client-key-file must be given together']
  if (value('requestheader-client-ca-file') === '')
    return items('requestheader-username-headers').length === 0
      ? []
      : ['--requestheader-username-headers needs --requestheader-client-ca-file']
  if (items('requestheader-username-headers').length === 0)
    return ['--requestheader-client-ca-file needs --requestheader-username-headers']
  return []
}

function webhookErrors(value: (name: string) => string): string[] {
  const version = value('authentication-token-webhook-version')
  return version === 'v1' || version === 'v1beta1'
    ? []
    : ['--authentication-token-webhook-version must be v1 or v1beta1']
}

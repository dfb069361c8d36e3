/** Thread: main. The completed configuration of TLS and authentication, from valid flags: names of files, not yet read. */
import path from 'node:path'
import type { AuthenticationConfiguration } from '../../auth/authn/authentication-configuration.js'
import type {
  FrontProxyHeaders,
  JwtAuthenticatorConfig,
  ServiceAccountTokenConfig,
  WebhookTokensConfig,
} from '../../protocol/server-credentials.js'
import { IN_MEMORY } from '../../storage/factory/storage-config.js'
import { firstAddress } from '../certificates/server-hosts.js'
import { type AccessConfig, allowsEverything, type ConfigurationFile } from './access-config.js'
import { type ClusterTrustConfig, clusterTrustConfig } from './delegation-options.js'
import { flagBoolean, flagDurationMs, flagList, flagText } from './flag-values.js'
import type { FlagValues } from './flags.js'

export interface SecurityConfig {
  readonly host: string
  readonly insecureHttp: boolean
  readonly certDir: string
  /** The file of the serving certificate; '' when one is made in certDir. */
  readonly tlsCertFile: string
  readonly tlsKeyFile: string
  readonly minVersion: string
  readonly cipherSuites: readonly string[]
  readonly bindAddress: string
  readonly advertiseAddress: string
  /** The address of the service `kubernetes`, for the certificate. */
  readonly serviceAddress: string
  /** The file of the authority of client certificates; '' for the one of certDir. */
  readonly clientCaFile: string
  /** The flag --anonymous-auth. */
  readonly anonymous: boolean
  /** Whether an authorizer allows everything: clients must at least say who they are then. */
  readonly everythingAllowed: boolean
  readonly tokenFile: string
  readonly bootstrapTokens: boolean
  readonly serviceAccounts: Omit<ServiceAccountTokenConfig, 'signingKey' | 'publicKeys'> & {
    /** The file of the key that signs service-account tokens; '' when one is made in certDir. */
    readonly signingKeyFile: string
    readonly keyFiles: readonly string[]
  }
  /** What the flags --oidc-* say; `ca` is a file. */
  readonly oidc: JwtAuthenticatorConfig | undefined
  /** What the file of --authentication-config says. */
  readonly authenticationFile: ConfigurationFile<AuthenticationConfiguration> | undefined
  readonly webhook: WebhookTokensConfig | undefined
  /** Where more authorities are looked up; undefined without --authentication-kubeconfig. */
  readonly clusterTrust: ClusterTrustConfig | undefined
  /** The front proxies that are believed; undefined for those of the authority that is made in certDir. */
  readonly frontProxy: { readonly caFile: string; readonly headers: FrontProxyHeaders } | undefined
  /** What is shown to extension API servers; undefined for what is made in certDir. */
  readonly proxyClient: { readonly certFile: string; readonly keyFile: string } | undefined
}

export function securityConfig(
  values: FlagValues,
  { authenticationFile, authorization }: AccessConfig,
): SecurityConfig {
  const text = (name: string): string => flagText(values, name)
  const issuers = flagList(values, 'service-account-issuer')
  const audiences = flagList(values, 'api-audiences')
  const everythingAllowed = allowsEverything(authorization)
  const host = text('bind-address')
  return {
    host,
    insecureHttp: flagBoolean(values, 'insecure-http'),
    certDir: certFolder(text('cert-dir'), text('data-dir')),
    tlsCertFile: text('tls-cert-file'),
    tlsKeyFile: text('tls-private-key-file'),
    minVersion: text('tls-min-version'),
    cipherSuites: flagList(values, 'tls-cipher-suites'),
    bindAddress: host,
    advertiseAddress: text('advertise-address'),
    serviceAddress: firstAddress(text('service-cluster-ip-range')),
    clientCaFile: text('client-ca-file'),
    anonymous: flagBoolean(values, 'anonymous-auth'),
    everythingAllowed,
    tokenFile: text('token-auth-file'),
    bootstrapTokens: flagBoolean(values, 'enable-bootstrap-token-auth'),
    serviceAccounts: {
      issuers,
      jwksUri: text('service-account-jwks-uri'),
      apiAudiences: audiences.length === 0 ? issuers : audiences,
      signingKeyFile: text('service-account-signing-key-file'),
      keyFiles: flagList(values, 'service-account-key-file'),
      maxExpirationSeconds: flagDurationMs(values, 'service-account-max-token-expiration') / 1000,
      extendExpiration: flagBoolean(values, 'service-account-extend-token-expiration'),
      lookup: flagBoolean(values, 'service-account-lookup'),
    },
    authenticationFile,
    oidc: text('oidc-issuer-url') === '' ? undefined : oidcConfig(values),
    webhook: webhookConfig(values),
    clusterTrust: clusterTrustConfig(values),
    proxyClient:
      text('proxy-client-cert-file') === ''
        ? undefined
        : { certFile: text('proxy-client-cert-file'), keyFile: text('proxy-client-key-file') },
    frontProxy:
      text('requestheader-client-ca-file') === ''
        ? undefined
        : {
            caFile: text('requestheader-client-ca-file'),
            headers: {
              allowedNames: flagList(values, 'requestheader-allowed-names'),
              username: flagList(values, 'requestheader-username-headers'),
              uid: flagList(values, 'requestheader-uid-headers'),
              group: flagList(values, 'requestheader-group-headers'),
              extraPrefixes: flagList(values, 'requestheader-extra-headers-prefix'),
            },
          },
  }
}

const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews'

function webhookConfig(values: FlagValues): WebhookTokensConfig | undefined {
  const delegate = flagText(values, 'authentication-kubeconfig')
  const file = delegate === '' ? flagText(values, 'authentication-token-webhook-config-file') : delegate
  if (file === '') return undefined
  return {
    configFile: path.resolve(file),
    path: delegate === '' ? '' : TOKEN_REVIEWS,
    version: delegate === '' ? flagText(values, 'authentication-token-webhook-version') : 'v1',
    cacheTtlMs: flagDurationMs(values, 'authentication-token-webhook-cache-ttl'),
  }
}

/** The flags --oidc-* are one issuer. */
function oidcConfig(values: FlagValues): JwtAuthenticatorConfig {
  const text = (name: string): string => flagText(values, name)
  const url = text('oidc-issuer-url')
  const claim = text('oidc-username-claim')
  const groups = text('oidc-groups-claim')
  return {
    issuer: { url, discoveryUrl: '', ca: text('oidc-ca-file'), audiences: [text('oidc-client-id')] },
    signingAlgs: flagList(values, 'oidc-signing-algs'),
    claimValidationRules: flagList(values, 'oidc-required-claim').map((pair) => ({
      claim: pair.slice(0, pair.indexOf('=')),
      requiredValue: pair.slice(pair.indexOf('=') + 1),
    })),
    username: { claim, prefix: usernamePrefix(text('oidc-username-prefix'), claim, url) },
    groups: groups === '' ? undefined : { claim: groups, prefix: text('oidc-groups-prefix') },
    uid: undefined,
    extra: [],
    userValidationRules: [],
  }
}

/** `-` is none; without one it is the issuer and #, unless users are named by their address. */
function usernamePrefix(given: string, claim: string, issuer: string): string {
  if (given === '-') return ''
  return given === '' && claim !== 'email' ? `${issuer}#` : given
}

/** The folder of certificates. A store in memory has one on the disk too, because clients keep the certificates. */
function certFolder(given: string, dataDir: string): string {
  if (given !== '') return path.resolve(given)
  return dataDir === IN_MEMORY ? path.resolve('certs') : path.resolve(dataDir, 'certs')
}

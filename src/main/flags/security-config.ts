/** Thread: main. The completed configuration of TLS and authentication, from valid flags: names of files, not yet read. */
import path from 'node:path'
import type {
  FrontProxyHeaders,
  OidcConfig,
  ServiceAccountTokenConfig,
  WebhookTokensConfig,
} from '../../protocol/server-credentials.js'
import { IN_MEMORY } from '../../storage/factory/storage-config.js'
import { firstAddress } from '../certificates/server-hosts.js'
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
  readonly anonymous: boolean
  readonly tokenFile: string
  readonly bootstrapTokens: boolean
  readonly serviceAccounts: Omit<ServiceAccountTokenConfig, 'signingKey' | 'publicKeys'> & {
    /** The file of the key that signs service-account tokens; '' when one is made in certDir. */
    readonly signingKeyFile: string
    readonly keyFiles: readonly string[]
  }
  /** The configuration of OIDC; `ca` is a file. */
  readonly oidc: OidcConfig | undefined
  readonly webhook: WebhookTokensConfig | undefined
  /** Where more authorities are looked up; undefined without --authentication-kubeconfig. */
  readonly clusterTrust: ClusterTrustConfig | undefined
  /** The front proxies that are believed; undefined for those of the authority that is made in certDir. */
  readonly frontProxy: { readonly caFile: string; readonly headers: FrontProxyHeaders } | undefined
  /** What is shown to extension API servers; undefined for what is made in certDir. */
  readonly proxyClient: { readonly certFile: string; readonly keyFile: string } | undefined
}

export function securityConfig(values: FlagValues): SecurityConfig {
  const text = (name: string): string => flagText(values, name)
  const issuers = flagList(values, 'service-account-issuer')
  const audiences = flagList(values, 'api-audiences')
  const modes = text('authorization-kubeconfig') === '' ? flagList(values, 'authorization-mode') : ['Webhook']
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
    // Where everybody may do everything, clients must at least say who they are.
    anonymous: flagBoolean(values, 'anonymous-auth') && modes.length > 0 && !modes.includes('AlwaysAllow'),
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

function oidcConfig(values: FlagValues): OidcConfig {
  const text = (name: string): string => flagText(values, name)
  return {
    issuer: text('oidc-issuer-url'),
    clientId: text('oidc-client-id'),
    usernameClaim: text('oidc-username-claim'),
    usernamePrefix: text('oidc-username-prefix'),
    groupsClaim: text('oidc-groups-claim'),
    groupsPrefix: text('oidc-groups-prefix'),
    requiredClaims: Object.fromEntries(
      flagList(values, 'oidc-required-claim').map((pair) => [
        pair.slice(0, pair.indexOf('=')),
        pair.slice(pair.indexOf('=') + 1),
      ]),
    ),
    signingAlgs: flagList(values, 'oidc-signing-algs'),
    ca: text('oidc-ca-file'),
  }
}

/** The folder of certificates. A store in memory has one on the disk too, because clients keep the certificates. */
function certFolder(given: string, dataDir: string): string {
  if (given !== '') return path.resolve(given)
  return dataDir === IN_MEMORY ? path.resolve('certs') : path.resolve(dataDir, 'certs')
}

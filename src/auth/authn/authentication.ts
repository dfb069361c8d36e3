/** Thread: any. Builds authentication from plain data, in each thread that asks who somebody is. */
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import type { Closable } from '../../lib/lifecycle.js'
import { ClientMetrics } from '../../metrics/client-metrics.js'
import { authFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { ChangedAuthentication } from '../../protocol/access-change.js'
import type { AuthenticationConfig, RenewedCredentials } from '../../protocol/server-credentials.js'
import type { Authenticator } from '../interface.js'
import { readKubeconfig, withPath } from '../kubeconfig.js'
import { WebhookClient } from '../webhook-client.js'
import { AudienceAgnostic } from './audience-agnostic.js'
import { BootstrapTokens } from './bootstrap-tokens.js'
import { ClientAuthorities } from './client-authorities.js'
import { ClientCertificates } from './client-certificates.js'
import { FrontProxy } from './front-proxy.js'
import { JwtIssuers } from './jwt-issuers.js'
import type { ObjectSource } from './object-source.js'
import { httpsJson } from './oidc-keys.js'
import { BearerToken, RequestAuthenticator } from './request-authenticator.js'
import { ServiceAccountAuthenticator } from './service-account-authenticator.js'
import { verificationKeys } from './service-account-tokens.js'
import { StaticTokens } from './static-tokens.js'
import { RememberedTokens, type TokenAuthenticator, TokenUnion } from './token-authenticator.js'
import { WebhookTokens } from './webhook-tokens.js'

export interface AuthenticationParts {
  readonly objects: ObjectSource
  readonly clock: Clock
  readonly random: Random
  readonly recorder: Recorder
}

export class Authentication implements Closable {
  /** Says who makes a request. */
  readonly authenticator: Authenticator
  /** Says whose a token is, and nothing else: for TokenReview. */
  readonly tokens: TokenAuthenticator
  readonly #requests: RequestAuthenticator
  readonly #remembered: RememberedTokens
  readonly #issuers: JwtIssuers
  readonly #certificates: ClientCertificates | undefined
  readonly #frontProxy: FrontProxy | undefined
  readonly #webhook: WebhookClient | undefined

  constructor(config: AuthenticationConfig, parts: AuthenticationParts) {
    const { clock, random, recorder } = parts
    this.#webhook =
      config.webhook === undefined
        ? undefined
        : new WebhookClient({
            kubeconfig: withPath(readKubeconfig(config.webhook.configFile), config.webhook.path),
            clock,
            random,
            metrics: new ClientMetrics(recorder),
          })
    const expiration = recorder.series(authFamilies.certificateExpiration)
    this.#certificates =
      config.clientCa === ''
        ? undefined
        : new ClientCertificates(new ClientAuthorities(config.clientCa), clock, (remainingMs) =>
            expiration.observe(remainingMs / 1000),
          )
    this.#frontProxy =
      config.frontProxy === undefined
        ? undefined
        : new FrontProxy(new ClientAuthorities(config.frontProxy.ca), config.frontProxy.headers, clock)
    const fetchJson = ({ ca }: { readonly ca: string }) => httpsJson(ca === '' ? undefined : ca, clock)
    this.#issuers = new JwtIssuers(config.jwt, { fetchJson, clock })
    const members = tokenMembers(config, parts, this.#issuers, this.#webhook)
    this.#remembered = new RememberedTokens(new TokenUnion(members), clock)
    this.tokens = this.#remembered
    this.#requests = new RequestAuthenticator({
      members: [
        ...(this.#frontProxy === undefined ? [] : [this.#frontProxy]),
        ...(this.#certificates === undefined ? [] : [this.#certificates]),
        new BearerToken(this.tokens),
      ],
      nobody: config.nobody,
    })
    this.authenticator = this.#requests
  }

  /** Takes what the configuration file says now. Tokens that were good under the old rules are judged again. */
  change({ jwt, nobody }: ChangedAuthentication): void {
    this.#issuers.replace(jwt)
    this.#remembered.forget()
    this.#requests.replaceNobody(nobody)
  }

  /** Takes the authorities after they have changed. */
  replaceAuthorities({ clientCa, frontProxyCa, frontProxyHeaders }: RenewedCredentials): void {
    if (clientCa !== '') this.#certificates?.replaceAuthorities(new ClientAuthorities(clientCa))
    if (frontProxyCa !== '')
      this.#frontProxy?.replaceAuthorities(new ClientAuthorities(frontProxyCa), frontProxyHeaders)
  }

  close(): void {
    this.#webhook?.close()
  }
}

/** The ways to verify a token in Kubernetes' order: what is known here before what must be asked elsewhere. */
function tokenMembers(
  config: AuthenticationConfig,
  { objects, clock }: AuthenticationParts,
  issuers: JwtIssuers,
  webhook: WebhookClient | undefined,
): TokenAuthenticator[] {
  const { serviceAccounts } = config
  const { apiAudiences } = serviceAccounts
  const members: TokenAuthenticator[] = []
  const agnostic = (tokens: TokenAuthenticator): void => void members.push(new AudienceAgnostic(tokens, apiAudiences))
  if (config.staticTokens !== '') agnostic(StaticTokens.parse(config.staticTokens))
  const { publicKeys, signingKey } = serviceAccounts
  // Behind another server the accounts are that server's, whatever accounts are stored here.
  const isDelegated = config.webhook !== undefined && config.webhook.path !== ''
  if (!isDelegated)
    members.push(
      new ServiceAccountAuthenticator({
        issuers: serviceAccounts.issuers,
        apiAudiences,
        keys: verificationKeys(publicKeys.length === 0 ? [signingKey] : publicKeys),
        lookup: serviceAccounts.lookup,
        objects,
        clock,
      }),
    )
  if (config.bootstrapTokens) agnostic(new BootstrapTokens(objects, clock))
  agnostic(issuers)
  if (webhook !== undefined && config.webhook !== undefined) {
    const { version, cacheTtlMs: ttlMs } = config.webhook
    members.push(new WebhookTokens({ client: webhook, version, apiAudiences, ttlMs, clock }))
  }
  return members
}

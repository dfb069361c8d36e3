/** Thread: pool. What the thread lends to the REST storage of its resources: all that hooks and handlers may reach. */
import type { JsonObject } from '../../api/object.js'
import type { RequestInfo } from '../../api/request-info.js'
import type { UserInfo } from '../../api/user-info.js'
import type { ServiceAccountTokenIssuer } from '../../auth/authn/service-account-tokens.js'
import type { TokenAuthenticator } from '../../auth/authn/token-authenticator.js'
import type { PolicyRule } from '../../auth/authz/policy-rule.js'
import type { Authorizer, RuleResolver } from '../../auth/interface.js'
import type { Random } from '../../lib/jitter.js'
import type { ConnectionConfig } from '../../protocol/pool-start.js'
import type { Store } from './store.js'
import type { StoreHooks } from './store-options.js'

/** Other endpoints, as far as REST storage needs them. */
export interface EndpointSource {
  find(path: Pick<RequestInfo, 'apiGroup' | 'apiVersion' | 'resource' | 'subresource'>): {
    readonly store: Store
    /** Notes in the next state of an object which of its fields the manager owns after changing the live one. */
    readonly fieldManager: {
      update(
        live: JsonObject | undefined,
        next: JsonObject,
        manager: string,
        options: { readonly now: number },
      ): JsonObject
    }
  }
}

/** What the user's own rules are, and those of a role. */
export interface HeldRules {
  policyRulesFor(user: UserInfo, namespace: string): { readonly rules: readonly PolicyRule[]; readonly error: string }
  rulesOfRole(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined
}

export interface RESTDependencies {
  readonly endpoints: EndpointSource
  /** Decides about requests, and answers questions about access. */
  readonly authorizer: Authorizer & RuleResolver
  readonly heldRules: HeldRules
  readonly tokenIssuer: ServiceAccountTokenIssuer
  /** Made when the first token is asked about. */
  readonly tokens: () => TokenAuthenticator
  readonly apiAudiences: readonly string[]
  /** One for each storage cluster; rejects when the cluster does not answer. */
  readonly storageProbes: readonly (() => Promise<void>)[]
  /** Gives services their addresses and ports; made when the first service is written. */
  readonly serviceHooks: () => StoreHooks
  /** How kubelets are reached. */
  readonly connection: ConnectionConfig
  /** Whether pods and nodes may be proxied to at an address. */
  readonly mayReach: (address: string) => boolean
  readonly random: Random
}

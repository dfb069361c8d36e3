/** Thread: pool. What the thread lends to the REST storage of its resources: all that hooks and handlers may reach. */
import type { GroupResource, GroupVersionKind } from '../../api/group-version.js'
import type { JsonObject } from '../../api/object.js'
import type { RequestInfo } from '../../api/request-info.js'
import type { SchemaSource } from '../../api/schema.js'
import type { UserInfo } from '../../api/user-info.js'
import type { ServiceAccountTokenIssuer } from '../../auth/authn/service-account-tokens.js'
import type { TokenAuthenticator } from '../../auth/authn/token-authenticator.js'
import type { PolicyRule } from '../../auth/authz/policy-rule.js'
import type { Authorizer, RuleResolver } from '../../auth/interface.js'
import type { Random } from '../../lib/jitter.js'
import type { Logger } from '../../lib/logger.js'
import type { ConnectionConfig } from '../../protocol/pool-start.js'
import type { RegistryStore } from './registry-store.js'
import type { RegistryStoreHooks } from './registry-store-options.js'

/** The other endpoints, as far as REST storage needs them. */
export interface EndpointSource {
  find(path: Pick<RequestInfo, 'apiGroup' | 'apiVersion' | 'resource' | 'subresource'>): {
    readonly store: RegistryStore
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

/** Gives the rules that a user holds, and those of a role. */
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
  /** Verifies tokens; made when the first one is asked about. */
  readonly tokens: () => TokenAuthenticator
  readonly apiAudiences: readonly string[]
  /** One probe for each storage cluster, which rejects when the cluster does not answer. */
  readonly storageProbes: readonly (() => Promise<void>)[]
  /** Gives services their addresses and ports; made when the first service is written. */
  readonly serviceHooks: () => RegistryStoreHooks
  /** How kubelets are reached. */
  readonly connection: ConnectionConfig
  /** Whether pods and nodes may be proxied to at an address. */
  readonly mayReach: (address: string) => boolean
  readonly random: Random
  readonly logger: Logger
  /** The kinds that there are. */
  readonly schemas: Pick<SchemaSource, 'kind'>
  /** The resource that serves a kind; undefined when none does. */
  readonly resourceOf: (kind: GroupVersionKind) => GroupResource | undefined
}

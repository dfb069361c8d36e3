/**
 * Thread: any. Who is it, and may they: the contracts of authentication and authorization.
 *
 * What can be decided at once is: an answer that is no Promise keeps a request in its turn of the event loop. Only what
 * must ask somebody else (a webhook, an issuer's keys, the pool) answers later.
 */
import type { UserInfo } from '../api/user-info.js'

/** What a request shows of who makes it. */
export interface Credentials {
  /** The Authorization header, or ''. */
  readonly authorization: string
  /** Any other header by its lower-case name; '' when it is absent. Several of one name are joined with ','. */
  header(name: string): string
  /** Every header in order, lower-case name, as often as it was sent. */
  forEachHeader(visit: (name: string, value: string) => void): void
  /**
   * The certificate that the client showed (PEM), of which TLS knows that one of all authorities signed it, but not which;
   * '' without one.
   */
  clientCertificate(): string
  /** The address of the peer, as text. */
  remoteAddress(): string
  /** With the path of the request, still percent-encoded. */
  readonly head: { readonly rawPath: string }
}

export interface Authenticated {
  readonly user: UserInfo
  /** The audiences of a token that names any; empty for the server's own. */
  readonly audiences?: readonly string[]
}

/**
 * Gives undefined for credentials that are not its own. Throws InvalidCredentials for those that are its own, and
 * wrong.
 */
export interface Authenticator {
  authenticate(credentials: Credentials): Authenticated | undefined | Promise<Authenticated | undefined>
}

/**
 * The credentials are wrong, which is a 401. The message is for the log; a client is told `Unauthorized` and no more.
 */
export class InvalidCredentials extends Error {
  override readonly name = 'InvalidCredentials'
}

/** One question of authorization. */
export interface Attributes {
  readonly user: UserInfo
  readonly verb: string
  readonly isResourceRequest: boolean
  readonly namespace: string
  readonly apiGroup: string
  readonly apiVersion: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** The path of a request that is for no resource. */
  readonly path: string
  /** The selectors that limit a list, watch or deletecollection, as they were written. */
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

/** `deny` ends the chain; `no-opinion` asks the next one, and at the end means no. */
export type Decision = 'allow' | 'deny' | 'no-opinion'

export interface Verdict {
  readonly decision: Decision
  /** The reason, for the client and the audit log; may be ''. */
  readonly reason: string
  /** What went wrong while deciding, for SubjectAccessReview's evaluationError. */
  readonly error?: string
}

export interface Authorizer {
  authorize(attributes: Attributes): Verdict | Promise<Verdict>
}

export interface ResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
}

export interface NonResourceRule {
  readonly verbs: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** What SelfSubjectRulesReview lists. `incomplete`: an authorizer in the chain cannot enumerate its rules. */
export interface RuleSet {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  readonly incomplete: boolean
  readonly error: string
}

export interface RuleResolver {
  rulesFor(user: UserInfo, namespace: string): RuleSet | Promise<RuleSet>
}

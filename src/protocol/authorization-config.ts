/** Thread: any. Which authorizers decide, in plain data: each thread that decides makes its own from it. */
import type { Kubeconfig } from './kubeconfig.js'

export const AUTHORIZATION_MODES = ['RBAC', 'Node', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number]

/** A service outside that is asked with a SubjectAccessReview. */
export interface WebhookAuthorizerConfig {
  readonly type: 'Webhook'
  /** What metrics call it. */
  readonly name: string
  readonly connection: Kubeconfig
  readonly version: 'v1' | 'v1beta1'
  /** How long its answers are kept; 0: not at all. */
  readonly authorizedTtlMs: number
  readonly unauthorizedTtlMs: number
  /** Of one try. */
  readonly timeoutMs: number
  /** What it means when it cannot be asked. */
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  /** Expressions that must all be true of what it is asked. */
  readonly matchConditions: readonly string[]
}

export type AuthorizerConfig =
  | { readonly type: Exclude<AuthorizationMode, 'Webhook'>; readonly name: string }
  | WebhookAuthorizerConfig

export interface AuthorizationConfig {
  /** In the order in which they are asked. */
  readonly authorizers: readonly AuthorizerConfig[]
  /** Paths that everybody may ask for before anybody is asked; * at the end stands for whatever follows. */
  readonly alwaysAllowPaths: readonly string[]
}

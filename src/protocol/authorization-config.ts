/** Thread: any. Which authorizers decide, in plain data: each thread that decides makes its own from it. */

export const AUTHORIZATION_MODES = ['RBAC', 'Node', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number]

export interface AuthorizationConfig {
  /** In the order in which they are asked. */
  readonly modes: readonly AuthorizationMode[]
  readonly webhook: {
    /** A kubeconfig; '' without the mode. */
    readonly configFile: string
    readonly version: 'v1' | 'v1beta1'
    readonly authorizedTtlMs: number
    readonly unauthorizedTtlMs: number
  }
}

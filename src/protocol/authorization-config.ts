/** Thread: any. Which authorizers decide, in plain data: each thread that decides makes its own from it. */

export const AUTHORIZATION_MODES = ['RBAC', 'Node', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number]

export interface AuthorizationConfig {
  /** In the order in which they are asked. */
  readonly modes: readonly AuthorizationMode[]
  /** Paths that everybody may ask for before anybody is asked; * at the end stands for whatever follows. */
  readonly alwaysAllowPaths: readonly string[]
  readonly webhook: {
    /** A kubeconfig; '' without the mode. */
    readonly configFile: string
    /** Where the server of the kubeconfig takes reviews; '': at its own address. */
    readonly path: string
    readonly version: 'v1' | 'v1beta1'
    readonly authorizedTtlMs: number
    readonly unauthorizedTtlMs: number
  }
}

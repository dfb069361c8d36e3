/**
 * Thread: any. What the files of --authentication-config and --authorization-config say now, as main tells every thread that
 * asks who somebody is or what they may do. Only what is valid is told; a thread that starts later is given the last of each.
 */
import type { AuthorizationConfig } from './authorization-config.js'
import type { JwtAuthenticatorConfig, NobodyConfig } from './server-credentials.js'

/** The part of authentication that the file decides. */
export interface ChangedAuthentication {
  readonly jwt: readonly JwtAuthenticatorConfig[]
  readonly nobody: NobodyConfig | undefined
}

/** Undefined: that part is as it was when the server started. */
export interface AccessChange {
  readonly type: 'access'
  readonly authentication: ChangedAuthentication | undefined
  readonly authorization: AuthorizationConfig | undefined
}

/** Access as it was when the server started. */
export const UNCHANGED_ACCESS: AccessChange = { type: 'access', authentication: undefined, authorization: undefined }

/**
 * Thread: main. How long the head of a request may be. uWebSockets.js reads it from the environment when its binary is
 * loaded, once in a process, and takes 4 KiB otherwise: less than tokens of some OIDC issuers and long selectors need.
 * Only the main thread's environment is that of the process.
 */

/** kube-apiserver takes 1 MiB. Every connection may hold as much before anybody knows whose it is. */
export const MAX_HEAD_BYTES = 64 * 1024
const VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE'

/** Before the first listener is made. An operator's own value stays. */
export function limitHeaders(): void {
  process.env[VARIABLE] ??= String(MAX_HEAD_BYTES)
}

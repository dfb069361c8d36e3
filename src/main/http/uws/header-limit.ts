/**
 * Thread: main. Sets the longest head of a request that uWebSockets.js takes. It reads the number from the environment
 * when its binary is loaded, once in a process, and takes 4 KiB by default: less than the tokens of some OIDC issuers
 * and long selectors need. It must be set in the main thread, because a worker's environment is a copy.
 */
import { MAX_HEAD_BYTES } from '../http-engine.js'

const VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE'

/** To be called before the first listener is made. A value that the operator has set stays. */
export function limitHeaders(): void {
  process.env[VARIABLE] ??= String(MAX_HEAD_BYTES)
}

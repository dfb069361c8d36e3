/**
 * Thread: main. A filter is one step of a request before its verb. It is made once, from the filter after it, and goes on in
 * the same turn when it can: a request that waits for nobody costs no promise. Kubernetes calls them filters too.
 */

import { MAX_BODY_BYTES } from '../../http/write-status.js'
import type { ApiRequest } from '../api-request.js'
import { isMutating } from '../inflight.js'

/**
 * A filter, or the verb at the end. It gives undefined when it need not wait; what it throws or rejects with is
 * answered.
 */
export type RequestHandler = (request: ApiRequest) => Promise<void> | undefined

/** A filter that waits calls this first: a body that comes in meanwhile would be lost. */
export function holdBody({ info, exchange, isPassedOn }: ApiRequest): void {
  if (isPassedOn) exchange.bodyStream()
  else if (isMutating(info.verb)) exchange.holdBody(MAX_BODY_BYTES)
}

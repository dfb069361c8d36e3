/**
 * Thread: main. The filter that takes a place for the request, waiting for one when it must. It comes before authorization,
 * as in Kubernetes: deciding who may do what is work too.
 */
import type { Clock } from '../../../lib/clock.js'
import type { ApiRequest } from '../api-request.js'
import type { Leave, RequestGate } from '../request-gate.js'
import type { RequestObserver } from '../request-observer.js'
import { holdBody, type RequestHandler } from './filter.js'

export interface FlowControlOptions {
  readonly gate: RequestGate
  readonly clock: Clock
  readonly observer: RequestObserver | undefined
}

export function withFlowControl(next: RequestHandler, { gate, clock, observer }: FlowControlOptions): RequestHandler {
  const wait = async (request: ApiRequest, leave: Promise<Leave>): Promise<Leave> => {
    const startedMs = clock.monotonicMs()
    observer?.onWaiting?.(request)
    try {
      return await leave
    } finally {
      request.waitedMs = clock.monotonicMs() - startedMs
      observer?.onWaited?.(request)
    }
  }
  return (request) => {
    const leave = gate.enter(request)
    if (!(leave instanceof Promise)) return request.entered(leave) ? next(request) : undefined
    holdBody(request)
    return wait(request, leave).then((given) => (request.entered(given) ? next(request) : undefined))
  }
}

/**
 * Thread: controllers. Why a key comes again though nothing is wrong with its controller: the objects of clients do not allow it yet, or
 * the server answered the write with a Status, which is about the object and tells that the server works.
 * Such a key is tried again like any other that failed, but the controller stays healthy: no client can make `/healthz/controllers`
 * fail by what it stores.
 */
import { StatusError } from '../../api/status.js'

export class Unfinished extends Error {
  readonly code = 'Unfinished'
}

/** Whether the failure of a key says that the controller itself is not well. */
export const isOwnFailure = (error: unknown): boolean =>
  !(error instanceof Unfinished) && !(error instanceof StatusError)

/** Thread: any. Why a patch could not be applied, classed as the API server answers it. */
import {
  newBadRequest,
  newGenericServerResponse,
  newRequestEntityTooLarge,
  newUnknown,
  type StatusError,
} from '../../../api/status.js'

export type PatchErrorCode =
  /** 400 BadRequest: the patch document itself is malformed. */
  | 'PatchBadRequest'
  /** 413 RequestEntityTooLarge */
  | 'PatchTooLarge'
  /** 422 Invalid, with a message that says nothing of the cause: the patch does not fit the object. */
  | 'PatchUnprocessable'
  /** 500 without a reason: what Kubernetes does not class, such as a list item without its merge key. */
  | 'PatchInternal'

export class PatchError extends Error {
  override readonly name = 'PatchError'
  readonly code: PatchErrorCode

  constructor(code: PatchErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** A `test` of a JSON patch found something else. */
export class PatchTestError extends PatchError {
  constructor(message: string) {
    super('PatchUnprocessable', message)
  }
}

const STATUS: Readonly<Record<PatchErrorCode, (message: string) => StatusError>> = {
  PatchBadRequest: newBadRequest,
  PatchTooLarge: newRequestEntityTooLarge,
  PatchUnprocessable: () => newGenericServerResponse(422),
  PatchInternal: newUnknown,
}

export const isPatchError = (error: unknown): error is PatchError => error instanceof PatchError

export const patchStatusError = (error: PatchError): StatusError => STATUS[error.code](error.message)

export const badRequest = (message: string): PatchError => new PatchError('PatchBadRequest', message)
export const unprocessable = (message: string): PatchError => new PatchError('PatchUnprocessable', message)

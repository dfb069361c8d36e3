/** Thread: main. Turns the errors of the read engine into the Status that clients are told. */
import { newBadRequest, newExpired, newTimeout, newUnknown, StatusError } from '../../api/status.js'
import { isStorageError } from '../../storage/contract/errors.js'

/** The Status for a failure of the read engine; any other failure is given back as it is. */
export function readStatus(error: unknown): unknown {
  if (isStorageError(error, 'invalid-request')) return newBadRequest(error.message)
  if (isStorageError(error, 'too-large')) {
    const { resourceVersion = 0, currentRevision = 0, retryAfterSeconds = 1 } = error.fields
    return newTimeout(
      `Too large resource version: ${BigInt(resourceVersion)}, current: ${currentRevision}`,
      retryAfterSeconds,
      [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    )
  }
  return error
}

/** The Status in the last event of a watch that failed after `revision`. */
export function watchStatus(error: unknown, revision: number): StatusError {
  if (isStorageError(error, 'too-old'))
    return newExpired(`too old resource version: ${revision} (${error.fields.compactRevision ?? 0})`)
  const told = readStatus(error)
  if (told instanceof StatusError) return told
  return newUnknown(told instanceof Error ? told.message : String(told))
}

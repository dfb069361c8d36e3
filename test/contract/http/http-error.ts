import { StorageError, type StorageErrorFields } from '#keelson/storage/contract/errors.js'

export interface StatusForm {
  readonly kind?: string
  readonly message?: string
  readonly reason?: string
  readonly code?: number
  readonly metadata?: { readonly continue?: string }
  readonly details?: { readonly causes?: readonly { readonly reason?: string }[] }
}

const TOO_LARGE = /Too large resource version: (\d+), current: (\d+)/

/** What a Status says, in the words of the storage contract. `fields`: what only the asker knows. */
export function storageError(status: StatusForm, fields: StorageErrorFields = {}): Error {
  const { message = '', reason = '' } = status
  switch (status.code) {
    case 400:
    case 422:
      return new StorageError('invalid-request', message, fields)
    case 404:
      return new StorageError('key-not-found', message, fields)
    case 409:
      if (reason === 'AlreadyExists') return new StorageError('key-exists', message, fields)
      return new StorageError(message.includes('recondition') ? 'invalid-object' : 'conflict', message, fields)
    case 410: {
      const continueToken = status.metadata?.continue
      return new StorageError('too-old', message, continueToken === undefined ? fields : { ...fields, continueToken })
    }
    case 504:
      return tooLarge(status, fields)
    default:
      return serverError(status, fields)
  }
}

function tooLarge(status: StatusForm, fields: StorageErrorFields): Error {
  const { message = '' } = status
  const numbers = TOO_LARGE.exec(message)
  const caused = status.details?.causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge')
  if (numbers === null || caused !== true) return new StorageError('unreachable', message, fields)
  const [, resourceVersion, currentRevision] = numbers.map(Number)
  return new StorageError('too-large', message, {
    ...fields,
    resourceVersion: resourceVersion!,
    currentRevision: currentRevision!,
  })
}

/** As in Kubernetes a version on a new object or a bad one on a watch is a plain error of the storage, which has code 500. */
function serverError(status: StatusForm, fields: StorageErrorFields): Error {
  const { message = '', reason = '' } = status
  if (message.includes('resourceVersion should not be set')) {
    return new StorageError('resource-version-set', message, fields)
  }
  if (/^resourceVersion: Invalid value/.test(message)) return new StorageError('invalid-request', message, fields)
  if (/^Internal error occurred: the object stored at .* cannot be de(crypted|coded)/.test(message))
    return new StorageError('corrupt-object', message, fields)
  return new Error(`${status.code} ${reason}: ${message}`)
}

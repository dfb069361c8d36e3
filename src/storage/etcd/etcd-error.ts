/** Thread: any. What etcd means by gRPC's statuses, in the words of the storage contract. */
import { StorageError, type StorageErrorCode } from '../contract/errors.js'
import { GrpcError, GrpcStatus } from '../grpc/grpc-error.js'

/** etcd's texts are part of its interface: its own client tells its errors apart by them. */
const CODE_BY_TEXT: readonly (readonly [string, StorageErrorCode])[] = [
  ['required revision has been compacted', 'too-old'],
  ['required revision is a future revision', 'too-large'],
  ['database space exceeded', 'no-space'],
  ['request is too large', 'value-too-large'],
  ['received message larger than max', 'value-too-large'],
]

const DEFINITE_REFUSALS: ReadonlySet<number> = new Set([
  GrpcStatus.invalidArgument,
  GrpcStatus.notFound,
  GrpcStatus.alreadyExists,
  GrpcStatus.failedPrecondition,
])

export function storageCodeOf(status: number, message: string): StorageErrorCode {
  const known = CODE_BY_TEXT.find(([text]) => message.includes(text))
  if (known !== undefined) return known[1]
  return DEFINITE_REFUSALS.has(status) ? 'invalid-request' : 'unreachable'
}

export function toStorageError(error: unknown, what: string): StorageError {
  if (error instanceof StorageError) return error
  const status = error instanceof GrpcError ? error.status : GrpcStatus.unknown
  const message = error instanceof Error ? error.message : String(error)
  const notSent = error instanceof GrpcError && error.notSent
  return new StorageError(storageCodeOf(status, message), `etcd: ${what}: ${message}`, { cause: error, notSent })
}

/** Whether another server may answer where this one did not. */
export function isServerTrouble(error: GrpcError): boolean {
  return storageCodeOf(error.status, error.message) === 'unreachable' && error.status !== GrpcStatus.cancelled
}

/**
 * Thread: any. Errors between threads: a posted Error loses its class, code and fields, so records cross instead.
 */
import { type Status, StatusError } from '../api/status.js'
import { StorageError, type StorageErrorCode, type StorageErrorFields } from '../storage/contract/errors.js'

export type ErrorRecord =
  | {
      readonly kind: 'storage'
      readonly code: StorageErrorCode
      readonly message: string
      readonly fields: Omit<StorageErrorFields, 'cause'>
      /** The message of the cause; the rest of it stays in its thread. */
      readonly cause?: string
    }
  /** An answer to the client. */
  | { readonly kind: 'status'; readonly status: Status }
  /** Nothing a caller expects: a fault in the other thread. */
  | {
      readonly kind: 'fault'
      readonly name: string
      readonly message: string
      readonly stack: string
      readonly code?: string
    }

export function toErrorRecord(error: unknown): ErrorRecord {
  if (error instanceof StorageError) {
    const { cause, ...fields } = error.fields
    const record = { kind: 'storage', code: error.code, message: error.message, fields } as const
    return cause === undefined ? record : { ...record, cause: cause instanceof Error ? cause.message : String(cause) }
  }
  if (error instanceof StatusError) return { kind: 'status', status: error.status }
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
  const fault = { kind: 'fault', name, message, stack: stack ?? '' } as const
  const code = (error as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'string' ? { ...fault, code } : fault
}

export function fromErrorRecord(record: ErrorRecord): Error {
  if (record.kind === 'storage') {
    const { code, message, fields, cause } = record
    return new StorageError(code, message, cause === undefined ? fields : { ...fields, cause })
  }
  if (record.kind === 'status') return new StatusError(record.status)
  // What has a code was foreseen, and says itself what is wrong.
  const error =
    record.code === undefined
      ? new Error(`in another thread: ${record.name}: ${record.message}`)
      : Object.assign(new Error(record.message), { code: record.code })
  error.stack = `${error.stack ?? ''}\n${record.stack}`
  return error
}

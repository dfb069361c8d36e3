/** Thread: pool. The one table from what storage reports to what a client is told. */
import type { GroupResource } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import {
  newAlreadyExists,
  newBadRequest,
  newConflict,
  newExpired,
  newInternalError,
  newNotFound,
  newRequestEntityTooLarge,
  newServiceUnavailable,
  newTimeout,
  newTooManyRequests,
  newUnknown,
  StatusError,
} from '../../api/status.js'
import { isStorageError, type StorageError, type StorageErrorCode } from '../../storage/contract/errors.js'
import type { Versioner } from '../../storage/contract/interface.js'

type Row = (error: StorageError, resource: GroupResource, name: string) => StatusError

export const STORAGE_STATUS: Readonly<Record<StorageErrorCode, Row>> = {
  'key-not-found': (_error, resource, name) => newNotFound(resource, name),
  'key-exists': (_error, resource, name) => newAlreadyExists(resource, name),
  conflict: (error, resource, name) => newConflict(resource, name, error.message),
  'invalid-object': (error, resource, name) => newConflict(resource, name, error.message),
  'too-old': (error) => newExpired(error.message, error.fields.continueToken),
  'too-large': (error) =>
    newTimeout(
      `Too large resource version: ${error.fields.resourceVersion ?? 0}, current: ${error.fields.currentRevision ?? 0}`,
      error.fields.retryAfterSeconds ?? 1,
      [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    ),
  unreachable: (error) => newTimeout(`storage is unreachable: ${error.message}`, error.fields.retryAfterSeconds ?? 2),
  // Who decodes may know what to tell the client: that an object is in a version that there is no more.
  'corrupt-object': ({ fields: { cause }, message }) =>
    cause instanceof StatusError ? cause : newInternalError(message),
  'resource-version-set': () => newUnknown('resourceVersion should not be set on objects to be created'),
  'invalid-request': (error) => newBadRequest(error.message),
  'value-too-large': (error) => newRequestEntityTooLarge(error.message),
  'no-space': (error) => newInternalError(error.message),
  'not-ready': (error, resource) =>
    error.fields.retryAfterSeconds === undefined
      ? newServiceUnavailable(error.message)
      : newTooManyRequests(`storage of ${resource.resource} is initializing`, error.fields.retryAfterSeconds),
}

/** The Status for a storage error; any other error is given back as it is. */
export function interpretStorageError(error: unknown, resource: GroupResource, name: string): unknown {
  return isStorageError(error) ? STORAGE_STATUS[error.code](error, resource, name) : error
}

/** Runs a storage call; its failures reach the caller as a Status. */
export async function translated<T>(resource: GroupResource, name: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    throw interpretStorageError(error, resource, name)
  }
}

/**
 * The version of an object that a client sent. One that is no version at all is a 500 without a reason, where an old
 * one is a conflict.
 */
export function givenVersion(versioner: Versioner<KubeObject>, object: KubeObject): number {
  try {
    return versioner.objectResourceVersion(object)
  } catch (error) {
    if (isStorageError(error, 'invalid-request')) throw newUnknown(error.message)
    throw error
  }
}

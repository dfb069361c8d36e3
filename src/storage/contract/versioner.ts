/** Thread: any. The versioner of every API object: metadata.resourceVersion, a decimal number in a string. */
import { type KubeObject, metadataOf } from '../../api/object.js'
import { StorageError } from './errors.js'
import type { Versioner } from './interface.js'

const MAX_UINT64 = 18446744073709551615n

export const objectVersioner: Versioner<KubeObject> = {
  updateObject(object, resourceVersion) {
    const metadata = metadataOf(object)
    if (resourceVersion === 0) delete metadata.resourceVersion
    else metadata.resourceVersion = String(resourceVersion)
  },

  prepareObjectForStorage(object) {
    const { metadata } = object
    if (metadata === undefined) return
    if (metadata.resourceVersion !== undefined) delete metadata.resourceVersion
    if (metadata.selfLink !== undefined) delete metadata.selfLink
  },

  objectResourceVersion(object) {
    return parseResourceVersion(object.metadata?.resourceVersion ?? '')
  },

  parseResourceVersion,
}

function parseResourceVersion(resourceVersion: string): number {
  if (resourceVersion === '') return 0
  if (/^[0-9]{1,15}$/.test(resourceVersion)) return Number(resourceVersion)
  // Clients may send any uint64. No revision gets near 2^53, so what lies beyond is "not there yet" all the same.
  if (/^[0-9]+$/.test(resourceVersion) && BigInt(resourceVersion) <= MAX_UINT64) {
    return Math.min(Number(resourceVersion), Number.MAX_SAFE_INTEGER)
  }
  throw new StorageError(
    'invalid-request',
    `invalid resource version ${JSON.stringify(resourceVersion)}: it must be a decimal number`,
  )
}

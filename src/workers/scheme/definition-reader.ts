/** Thread: pool, owner. Definitions of custom resources as they lie in shared memory, by name. */

import type { CustomResourceDefinition } from '../../api/generated/kinds/apiextensions.v1.js'
import { parseJson } from '../../api/json/parse.js'
import type { ReadDefinition } from '../../apiextensions/definitions/definition-source.js'
import type { ResourceView } from '../../cacher/read/resource-view.js'
import { isStorageError } from '../../storage/contract/errors.js'
import { normalizePathPrefix } from '../../storage/contract/storage-key.js'

export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'
const KEYS = 'apiextensions.k8s.io/customresourcedefinitions/'

/** `view` is that of the resource DEFINITIONS, which is in memory whatever the flags say. */
export function definitionReader(view: () => Pick<ResourceView, 'known'>, etcdPrefix: string): ReadDefinition {
  const prefix = `${normalizePathPrefix(etcdPrefix)}${KEYS}`
  return (name) => {
    const body = bodyOf(view(), prefix + name)
    return body === undefined ? undefined : (parseJson(body).value as unknown as CustomResourceDefinition)
  }
}

function bodyOf(view: Pick<ResourceView, 'known'>, key: string): Buffer | undefined {
  const arena = view.known()
  if (arena === undefined) return undefined
  try {
    const snapshot = arena.snapshot()
    try {
      const record = snapshot.get(key)
      return record && Buffer.from(record.body())
    } finally {
      snapshot.release()
    }
  } catch (error) {
    if (isStorageError(error, 'too-old') || isStorageError(error, 'not-ready')) return undefined
    throw error
  }
}

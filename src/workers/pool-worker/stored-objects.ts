/** Thread: pool. The objects that credentials hang on, each time in their newest state. */
import type { JsonObject, KubeObject } from '../../api/object.js'
import { metadataOf } from '../../api/object.js'
import type { FoundObject, ObjectSource, SourceResource } from '../../auth/authn/object-source.js'
import { isNotFound } from '../../storage/contract/errors.js'
import type { EndpointTable } from '../endpoints/endpoint-table.js'

export class StoredObjects implements ObjectSource {
  readonly #endpoints: EndpointTable

  constructor(endpoints: EndpointTable) {
    this.#endpoints = endpoints
  }

  find(): undefined {
    return undefined
  }

  async ask(resource: SourceResource, namespace: string, name: string): Promise<FoundObject | undefined> {
    const { store } = this.#endpoints.find({ apiGroup: '', apiVersion: 'v1', resource, subresource: '' })
    let object: KubeObject
    try {
      object = await store.storage.get(store.key(namespace, name))
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
    const { uid = '', deletionTimestamp } = metadataOf(object)
    return {
      uid,
      deletedMs: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp),
      read: () => object as JsonObject,
    }
  }
}

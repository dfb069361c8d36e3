/** Thread: pool. Objects that admission asks for, from memory where that is possible: the newest state. */
import type { KubeObject } from '../api/object.js'
import { listAll } from '../registry/generic/list-all.js'
import { isNotFound } from '../storage/errors.js'
import type { EndpointTable } from './endpoint-table.js'

export class ObjectLookup {
  readonly #endpoints: EndpointTable

  constructor(endpoints: EndpointTable) {
    this.#endpoints = endpoints
  }

  /** Of cluster-scoped resources. */
  async get(apiGroup: string, apiVersion: string, resource: string, name: string): Promise<KubeObject | undefined> {
    const { store } = this.#endpoints.find({ apiGroup, apiVersion, resource, subresource: '' })
    try {
      return await store.storage.get(store.key('', name))
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async list(apiGroup: string, apiVersion: string, resource: string): Promise<KubeObject[]> {
    const { store } = this.#endpoints.find({ apiGroup, apiVersion, resource, subresource: '' })
    return listAll(store.storage, store.keyRoot(''), { newest: true })
  }
}

/** Thread: pool. Objects that admission asks for, from memory where that is possible: the newest state. */
import type { KubeObject } from '../api/object.js'
import { everything } from '../api/selector.js'
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
    const { items } = await store.storage.getList(store.keyRoot(''), {
      resourceVersion: '',
      resourceVersionMatch: '',
      recursive: true,
      predicate: {
        label: everything,
        field: everything,
        getAttributes: () => ({ labels: NONE, fields: NONE }),
        limit: 0,
        continueToken: '',
        allowWatchBookmarks: false,
      },
    })
    return items
  }
}

const NONE = { get: () => undefined, has: () => false }

/** Thread: pool. A namespace in its newest state, for the rules of what is in it. */
import type { KubeObject } from '../../../api/object.js'
import { isNotFound } from '../../../storage/contract/errors.js'
import type { EndpointSource } from '../../generic/rest-dependencies.js'

/** Undefined when there is none of that name. */
export async function readNamespace(endpoints: EndpointSource, name: string): Promise<KubeObject | undefined> {
  const { store } = endpoints.find({ apiGroup: '', apiVersion: 'v1', resource: 'namespaces', subresource: '' })
  try {
    return await store.storage.get(store.key('', name))
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

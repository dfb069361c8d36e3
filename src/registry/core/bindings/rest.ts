/** Thread: pool. POST …/bindings: what pods/binding does, with the name of the pod in the object alone. */
import type { ResourceREST } from '../../generic/resource-rest.js'
import { bindPod } from '../pods/binding.js'

export const bindingREST: ResourceREST = {
  resource: {
    make: ({ dependencies: { endpoints } }) => {
      const { store } = endpoints.find({ apiGroup: '', apiVersion: 'v1', resource: 'pods', subresource: '' })
      return { create: bindPod(store) }
    },
  },
}

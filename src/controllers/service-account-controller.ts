/**
 * Thread: controllers. Every namespace that is not being deleted has the service account `default`: it is created with the
 * namespace, and again when somebody deletes it.
 */
import type { KubeObject } from '../api/object.js'
import { isStatusError } from '../api/status.js'
import type { Controller } from './framework/controller.js'
import { failedWith } from './framework/controller-client.js'

const ACCOUNT = 'default'

export const serviceAccountController: Controller = {
  name: 'serviceaccount-controller',
  account: 'service-account-controller',
  requires: ['namespaces', 'serviceaccounts'],
  start({ client, objects, resource, follow, queue }) {
    const namespaces = resource('namespaces')
    const accounts = resource('serviceaccounts')
    const work = queue({
      sync: async (name) => {
        const namespace = await objects.get<Namespace>(namespaces, { namespace: '', name })
        if (namespace === undefined || namespace.status?.phase === 'Terminating') return
        const place = { namespace: name, name: ACCOUNT }
        if ((await objects.get(accounts, place)) !== undefined) return
        try {
          await client.create(accounts, { metadata: place })
        } catch (error) {
          // Somebody else created it, or the namespace began to end: both are what should be.
          if (!failedWith(error, 'AlreadyExists') && !isEnding(error)) throw error
        }
      },
    })
    follow(namespaces, { onPut: ({ name }) => work.add(name), onDelete: () => undefined })
    follow(accounts, {
      onPut: () => undefined,
      onDelete: ({ namespace, name }) => {
        if (name === ACCOUNT) work.add(namespace)
      },
    })
  },
}

export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] }
  status?: { phase?: string; conditions?: object[] }
}

/** Nothing is created in a namespace that is being deleted, or that is gone; what is forbidden otherwise is tried again. */
export function isEnding(error: unknown): boolean {
  if (!isStatusError(error)) return false
  const causes = error.status.details?.causes ?? []
  return error.reason === 'NotFound' || causes.some(({ reason }) => reason === 'NamespaceTerminating')
}

/** Thread: pool. Devices that others use already can be asked for in namespaces that say so with a label. */

import { type FieldError, FieldPath, forbidden } from '../../../api/field-error.js'
import type { ResourceClaimSpec } from '../../../api/generated/kinds/resource.v1.js'
import { type KubeObject, metadataOf } from '../../../api/object.js'
import { newInvalid } from '../../../api/status.js'
import type { RegistryStoreHooks } from '../../generic/registry-store-options.js'

const LABEL = 'resource.kubernetes.io/admin-access'
const NOTHING_TAKEN = (): void => undefined

/** Gives the object; undefined when there is none. */
export type NamespaceReader = (name: string) => Promise<KubeObject | undefined>

export async function isAdminNamespace(name: string, namespace: NamespaceReader): Promise<boolean> {
  const holder = await namespace(name)
  return holder !== undefined && metadataOf(holder).labels?.[LABEL] === 'true'
}

/** Which kind asks for devices, and where in it the spec of the claim is. */
export interface ClaimKind<K extends KubeObject> {
  readonly kind: string
  readonly specOf: (object: K) => ResourceClaimSpec | undefined
}

export function adminAccessHooks<K extends KubeObject>(
  { kind, specOf }: ClaimKind<K>,
  namespace: NamespaceReader,
): RegistryStoreHooks<K> {
  return {
    beginCreate: async (object, context) => {
      const error = adminAccessError(specOf(object))
      if (error === undefined || (await isAdminNamespace(context.namespace, namespace))) return NOTHING_TAKEN
      throw newInvalid({ group: context.apiGroup, kind }, metadataOf(object).name ?? '', [error])
    },
  }
}

function adminAccessError(spec: ResourceClaimSpec | undefined): FieldError | undefined {
  const requests = spec?.devices?.requests ?? []
  const i = requests.findIndex(({ exactly }) => exactly?.adminAccess === true)
  // The same place for templates, where it is one level deeper: Kubernetes says it so.
  const path = FieldPath.of('spec', 'devices', 'requests').index(i).child('adminAccess')
  return i < 0 ? undefined : forbidden(path, `the namespace needs the label ${LABEL}: true`)
}

/** Thread: pool. Devices that others use already can be asked for in namespaces that say so with a label. */

import { type FieldError, FieldPath, forbidden } from '../../../api/field-error.js'
import { type KubeObject, metadataOf } from '../../../api/object.js'
import { newInvalid } from '../../../api/status.js'
import type { StoreHooks } from '../../generic/store-options.js'

interface ClaimSpec {
  devices?: { requests?: readonly { exactly?: { adminAccess?: boolean } }[] | null }
}

const LABEL = 'resource.kubernetes.io/admin-access'
const NOTHING_TAKEN = (): void => undefined

/** Gives the object; undefined when there is none. */
export type NamespaceReader = (name: string) => Promise<KubeObject | undefined>

export async function isAdminNamespace(name: string, namespace: NamespaceReader): Promise<boolean> {
  const holder = await namespace(name)
  return holder !== undefined && metadataOf(holder).labels?.[LABEL] === 'true'
}

/** Which kind asks for devices, and where in it the spec of the claim is. */
export interface ClaimKind {
  readonly kind: string
  readonly specAt: readonly string[]
}

export function adminAccessHooks({ kind, specAt }: ClaimKind, namespace: NamespaceReader): StoreHooks {
  return {
    beginCreate: async (object, context) => {
      const error = adminAccessError(object, specAt)
      if (error === undefined || (await isAdminNamespace(context.namespace, namespace))) return NOTHING_TAKEN
      throw newInvalid({ group: context.apiGroup, kind }, metadataOf(object).name ?? '', [error])
    },
  }
}

function adminAccessError(object: KubeObject, specAt: readonly string[]): FieldError | undefined {
  let value: unknown = object
  for (const name of specAt) value = (value as Record<string, unknown> | undefined)?.[name]
  const requests = (value as ClaimSpec | undefined)?.devices?.requests ?? []
  const i = requests.findIndex(({ exactly }) => exactly?.adminAccess === true)
  // The same place for templates, where it is one level deeper: Kubernetes says it so.
  const path = FieldPath.of('spec', 'devices', 'requests').index(i).child('adminAccess')
  return i < 0 ? undefined : forbidden(path, `the namespace needs the label ${LABEL}: true`)
}

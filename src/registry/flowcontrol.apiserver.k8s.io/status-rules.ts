/** Thread: pool. Their status endpoint leaves metadata alone, but for who owns which field. */
import type { KubeObject } from '../../api/object.js'

export function keepAllMetadata(object: KubeObject, old: KubeObject): void {
  const managedFields = object.metadata?.managedFields
  const resourceVersion = object.metadata?.resourceVersion
  object.metadata = { ...structuredClone(old.metadata) }
  if (managedFields !== undefined) object.metadata.managedFields = managedFields
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion
}

/** Thread: pool. Volumes, claims and classes of volume attributes keep a finalizer while something uses them. */
import { metadataOf } from '../../api/object.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { isAbout } from '../forbid.js'

const PROTECTED = [
  { group: '', resource: 'persistentvolumes', finalizer: 'kubernetes.io/pv-protection' },
  { group: '', resource: 'persistentvolumeclaims', finalizer: 'kubernetes.io/pvc-protection' },
  { group: 'storage.k8s.io', resource: 'volumeattributesclasses', finalizer: 'kubernetes.io/vac-protection' },
] as const

export class StorageObjectInUseProtection implements AdmissionPlugin {
  readonly name = 'StorageObjectInUseProtection'

  handles(attributes: AdmissionAttributes): boolean {
    return PROTECTED.some(({ group, resource }) => isAbout(attributes, group, resource, 'CREATE'))
  }

  admit({ object, resource }: AdmissionAttributes): void {
    if (object === undefined) return
    const metadata = metadataOf(object)
    const { finalizer } = PROTECTED.find((one) => one.resource === resource.resource)!
    if (metadata.finalizers?.includes(finalizer)) return
    metadata.finalizers = [...(metadata.finalizers ?? []), finalizer]
  }
}

/** Thread: pool. Volumes and claims keep a finalizer while something uses them. */
import { metadataOf } from '../api/object.js'
import type { AdmissionAttributes, AdmissionPlugin } from './chain.js'
import { isAbout } from './forbid.js'

const FINALIZERS: Readonly<Record<string, string>> = {
  persistentvolumes: 'kubernetes.io/pv-protection',
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
}

export class StorageObjectInUseProtection implements AdmissionPlugin {
  readonly name = 'StorageObjectInUseProtection'

  handles(attributes: AdmissionAttributes): boolean {
    return Object.keys(FINALIZERS).some((resource) => isAbout(attributes, '', resource, 'CREATE'))
  }

  admit({ object, resource }: AdmissionAttributes): void {
    if (object === undefined) return
    const metadata = metadataOf(object)
    const finalizer = FINALIZERS[resource.resource]!
    if (metadata.finalizers?.includes(finalizer)) return
    metadata.finalizers = [...(metadata.finalizers ?? []), finalizer]
  }
}

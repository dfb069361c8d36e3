/** Thread: pool. Claims that name no class get the default one. */
import type { PersistentVolumeClaim } from '../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../api/object.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { isAbout } from '../forbid.js'
import { type AdmissionObjects, STORAGE_CLASSES } from '../objects.js'
import { newestDefault } from './newest-default.js'

const ANNOTATION = 'storageclass.kubernetes.io/is-default-class'
const BETA_ANNOTATION = 'storageclass.beta.kubernetes.io/is-default-class'
/** The annotation that named the class before there was a field for it. */
const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class'

export class DefaultStorageClass implements AdmissionPlugin<PersistentVolumeClaim> {
  readonly name = 'DefaultStorageClass'
  readonly #objects: AdmissionObjects

  constructor(objects: AdmissionObjects) {
    this.#objects = objects
  }

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, '', 'persistentvolumeclaims', 'CREATE')
  }

  async admit({ object }: AdmissionAttributes<PersistentVolumeClaim>): Promise<void> {
    const spec = object?.spec
    if (object === undefined || spec === undefined) return
    // An empty name means no class, and not the default either.
    if (spec.storageClassName !== undefined || metadataOf(object).annotations?.[BETA_CLASS] !== undefined) return
    const classes = await this.#objects.list(STORAGE_CLASSES, '')
    const name = newestDefault(classes, ANNOTATION, BETA_ANNOTATION)?.metadata?.name
    if (name !== undefined) spec.storageClassName = name
  }
}

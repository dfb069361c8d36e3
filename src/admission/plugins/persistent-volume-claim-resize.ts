/** Thread: pool. A bound claim grows only when its class lets it. */
import type { PersistentVolumeClaim } from '../../api/generated/kinds/core.v1.js'
import { parseQuantity } from '../../api/quantity.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid, isAbout } from '../forbid.js'
import { type AdmissionObjects, STORAGE_CLASSES } from '../objects.js'

export class PersistentVolumeClaimResize implements AdmissionPlugin<PersistentVolumeClaim> {
  readonly name = 'PersistentVolumeClaimResize'
  readonly #objects: AdmissionObjects

  constructor(objects: AdmissionObjects) {
    this.#objects = objects
  }

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, '', 'persistentvolumeclaims', 'UPDATE')
  }

  async validate(attributes: AdmissionAttributes<PersistentVolumeClaim>): Promise<void> {
    const { object: claim, oldObject: old } = attributes
    const next = claim?.spec?.resources?.requests?.['storage']
    const before = old?.spec?.resources?.requests?.['storage']
    if (next === undefined || before === undefined || parseQuantity(next).compare(parseQuantity(before)) <= 0) return
    if (old?.status?.phase !== 'Bound') throw forbid(attributes, 'Only bound persistent volume claims can be expanded')
    const name = old.spec?.storageClassName ?? ''
    const found = name === '' ? undefined : await this.#objects.get(STORAGE_CLASSES, '', name)
    if (found?.allowVolumeExpansion === true) return
    throw forbid(
      attributes,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    )
  }
}

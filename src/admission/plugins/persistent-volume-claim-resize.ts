/** Thread: pool. A bound claim grows only when its class lets it. */
import type { KubeObject } from '../../api/object.js'
import { parseQuantity } from '../../api/quantity.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid, isAbout } from '../forbid.js'
import { type AdmissionObjects, STORAGE_CLASSES } from '../objects.js'

interface Claim extends KubeObject {
  spec?: { storageClassName?: string; resources?: { requests?: Record<string, string> } }
  status?: { phase?: string }
}

export class PersistentVolumeClaimResize implements AdmissionPlugin {
  readonly name = 'PersistentVolumeClaimResize'
  readonly #objects: AdmissionObjects

  constructor(objects: AdmissionObjects) {
    this.#objects = objects
  }

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, '', 'persistentvolumeclaims', 'UPDATE')
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    const claim = attributes.object as Claim | undefined
    const old = attributes.oldObject as Claim | undefined
    const next = claim?.spec?.resources?.requests?.['storage']
    const before = old?.spec?.resources?.requests?.['storage']
    if (next === undefined || before === undefined || parseQuantity(next).compare(parseQuantity(before)) <= 0) return
    if (old?.status?.phase !== 'Bound') throw forbid(attributes, 'Only bound persistent volume claims can be expanded')
    const name = old.spec?.storageClassName ?? ''
    const found = name === '' ? undefined : await this.#objects.get(STORAGE_CLASSES, '', name)
    if (found?.['allowVolumeExpansion'] === true) return
    throw forbid(
      attributes,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    )
  }
}

/** Thread: pool. Who writes a trust bundle of a signer may attest for it. */
import type { ClusterTrustBundle } from '../../api/generated/kinds/certificates.v1beta1.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid, isAbout } from '../forbid.js'
import type { Permissions } from '../permissions.js'

export class ClusterTrustBundleAttest implements AdmissionPlugin<ClusterTrustBundle> {
  readonly name = 'ClusterTrustBundleAttest'
  readonly #permissions: Permissions

  constructor(permissions: Permissions) {
    this.#permissions = permissions
  }

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, 'certificates.k8s.io', 'clustertrustbundles', 'CREATE', 'UPDATE')
  }

  async validate(attributes: AdmissionAttributes<ClusterTrustBundle>): Promise<void> {
    const { object, oldObject, user } = attributes
    // A change of metadata alone needs no permission to attest.
    if (oldObject !== undefined && JSON.stringify(object?.spec) === JSON.stringify(oldObject.spec)) return
    for (const signerName of new Set([signerOf(object), signerOf(oldObject)])) {
      if (signerName === '' || (await this.#permissions.maySign(user, 'attest', signerName))) continue
      throw forbid(attributes, `user not permitted to attest for signerName ${JSON.stringify(signerName)}`)
    }
  }
}

const signerOf = (object: ClusterTrustBundle | undefined): string => object?.spec?.signerName ?? ''

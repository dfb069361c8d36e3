/** Thread: pool. Who approves a signing request may approve for its signer. */
import type { CertificateSigningRequest } from '../../api/generated/kinds/certificates.v1.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid } from '../forbid.js'
import type { Permissions } from '../permissions.js'

export class CertificateApproval implements AdmissionPlugin<CertificateSigningRequest> {
  readonly name = 'CertificateApproval'
  readonly #permissions: Permissions

  constructor(permissions: Permissions) {
    this.#permissions = permissions
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    return (
      operation === 'UPDATE' &&
      resource.group === 'certificates.k8s.io' &&
      resource.resource === 'certificatesigningrequests' &&
      subresource === 'approval'
    )
  }

  async validate(attributes: AdmissionAttributes<CertificateSigningRequest>): Promise<void> {
    // What is stored says the signer: an update may claim another.
    const { signerName = '' } = attributes.oldObject?.spec ?? {}
    if (await this.#permissions.maySign(attributes.user, 'approve', signerName)) return
    throw forbid(attributes, `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`)
  }
}

/** Thread: pool. Who puts a certificate or a failure into a signing request may sign for its signer. */
import type { CertificateSigningRequest } from '../../api/generated/kinds/certificates.v1.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid } from '../forbid.js'
import type { Permissions } from '../permissions.js'

export class CertificateSigning implements AdmissionPlugin<CertificateSigningRequest> {
  readonly name = 'CertificateSigning'
  readonly #permissions: Permissions

  constructor(permissions: Permissions) {
    this.#permissions = permissions
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    return (
      operation === 'UPDATE' &&
      resource.group === 'certificates.k8s.io' &&
      resource.resource === 'certificatesigningrequests' &&
      subresource === 'status'
    )
  }

  async validate(attributes: AdmissionAttributes<CertificateSigningRequest>): Promise<void> {
    const { object: next = {}, oldObject: old = {} } = attributes
    const same =
      (old.status?.certificate ?? '') === (next.status?.certificate ?? '') &&
      JSON.stringify(old.status?.conditions ?? []) === JSON.stringify(next.status?.conditions ?? [])
    if (same) return
    const { signerName = '' } = old.spec ?? {}
    if (await this.#permissions.maySign(attributes.user, 'sign', signerName)) return
    throw forbid(attributes, `user not permitted to sign requests with signerName ${JSON.stringify(signerName)}`)
  }
}

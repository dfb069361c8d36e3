/** Thread: pool. Who puts a certificate or a failure into a signing request may sign for its signer. */
import type { KubeObject } from '../../api/object.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid } from '../forbid.js'
import type { Permissions } from '../permissions.js'

interface Request extends KubeObject {
  spec?: { signerName?: string }
  status?: { certificate?: string; conditions?: { type?: string }[] }
}

export class CertificateSigning implements AdmissionPlugin {
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

  async validate(attributes: AdmissionAttributes): Promise<void> {
    const old = attributes.oldObject as Request
    const next = attributes.object as Request
    const same =
      (old.status?.certificate ?? '') === (next.status?.certificate ?? '') &&
      JSON.stringify(old.status?.conditions ?? []) === JSON.stringify(next.status?.conditions ?? [])
    if (same) return
    const { signerName = '' } = old.spec ?? {}
    if (await this.#permissions.maySign(attributes.user, 'sign', signerName)) return
    throw forbid(attributes, `user not permitted to sign requests with signerName ${JSON.stringify(signerName)}`)
  }
}

/** Thread: pool. CertificateApproval and CertificateSigning: who acts on a signing request may act for its signer. */
import type { CertificateSigningRequest } from '../../api/generated/kinds/certificates.v1.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid } from '../forbid.js'
import type { Permissions } from '../permissions.js'

interface SignerRule {
  readonly name: string
  /** The subresource through which a signing request is acted on. */
  readonly subresource: string
  /** The verb that the user needs on the signer. */
  readonly verb: 'approve' | 'sign'
  /** Whether the update does what the verb stands for; the other updates are everybody's. */
  acts(next: CertificateSigningRequest, old: CertificateSigningRequest): boolean
}

class CertificateSignerPlugin implements AdmissionPlugin<CertificateSigningRequest> {
  readonly name: string
  readonly #rule: SignerRule
  readonly #permissions: Permissions

  constructor(rule: SignerRule, permissions: Permissions) {
    this.name = rule.name
    this.#rule = rule
    this.#permissions = permissions
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    return (
      operation === 'UPDATE' &&
      resource.group === 'certificates.k8s.io' &&
      resource.resource === 'certificatesigningrequests' &&
      subresource === this.#rule.subresource
    )
  }

  async validate(attributes: AdmissionAttributes<CertificateSigningRequest>): Promise<void> {
    const { object: next = {}, oldObject: old = {}, user } = attributes
    const { verb, acts } = this.#rule
    if (!acts(next, old)) return
    // The stored request says who the signer is: an update may claim another.
    const { signerName = '' } = old.spec ?? {}
    if (await this.#permissions.maySign(user, verb, signerName)) return
    throw forbid(attributes, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`)
  }
}

/** Who approves or denies a signing request may approve for its signer. */
export const certificateApproval = (permissions: Permissions): AdmissionPlugin<CertificateSigningRequest> =>
  new CertificateSignerPlugin(
    { name: 'CertificateApproval', subresource: 'approval', verb: 'approve', acts: () => true },
    permissions,
  )

/** Who puts a certificate or a failure into a signing request may sign for its signer. */
export const certificateSigning = (permissions: Permissions): AdmissionPlugin<CertificateSigningRequest> =>
  new CertificateSignerPlugin(
    {
      name: 'CertificateSigning',
      subresource: 'status',
      verb: 'sign',
      acts: ({ status: next }, { status: old }) =>
        (old?.certificate ?? '') !== (next?.certificate ?? '') ||
        JSON.stringify(old?.conditions ?? []) !== JSON.stringify(next?.conditions ?? []),
    },
    permissions,
  )

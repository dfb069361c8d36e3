/** Thread: pool. No request for a client certificate makes somebody a master of the cluster. */

import type { CertificateSigningRequest } from '../../api/generated/kinds/certificates.v1.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid, isAbout } from '../forbid.js'
import { requestSubject } from './certificate-request-subject.js'

const SIGNER = 'kubernetes.io/kube-apiserver-client'
const MASTERS = 'system:masters'

export class CertificateSubjectRestriction implements AdmissionPlugin<CertificateSigningRequest> {
  readonly name = 'CertificateSubjectRestriction'

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, 'certificates.k8s.io', 'certificatesigningrequests', 'CREATE')
  }

  validate(attributes: AdmissionAttributes<CertificateSigningRequest>): void {
    const { signerName, request } = attributes.object?.spec ?? {}
    if (signerName !== SIGNER) return
    const subject = requestSubject(request ?? '')
    if (subject === undefined) throw forbid(attributes, 'failed to parse CSR')
    if (subject.organizations.includes(MASTERS))
      throw forbid(attributes, `use of ${SIGNER} signer with ${MASTERS} group is not allowed`)
  }
}

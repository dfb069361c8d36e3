/**
 * Thread: any. The subject of a certificate from its DER. node:crypto gives subjects as text only, in which names are
 * escaped and joined; who somebody is must not hang on taking that apart again.
 */
import { DerReader, readName } from '../../api/x509/der-reader.js'

export interface CertificateSubject {
  /** The last common name, as Go takes it; '' when there is none. */
  readonly commonName: string
  /** The organisations in order. */
  readonly organizations: readonly string[]
  /** The values of Kubernetes' own attribute for uids. */
  readonly uids: readonly string[]
}

const SEQUENCE = 0x30
const VERSION = 0xa0

const COMMON_NAME = '550403'
const ORGANIZATION = '55040a'
/** The object identifier 1.3.6.1.4.1.57683.2. */
const KUBERNETES_UID = '2b0601040183c35302'

export function certificateSubject(der: Uint8Array): CertificateSubject {
  const certificate = new DerReader(der).expect(SEQUENCE)
  const body = certificate.expect(SEQUENCE)
  if (body.tag() === VERSION) body.next()
  // Steps over serial number, signature algorithm, issuer and validity.
  for (let i = 0; i < 4; i++) body.next()
  let commonName = ''
  const organizations: string[] = []
  const uids: string[] = []
  for (const { type, value } of readName(body.expect(SEQUENCE))) {
    if (type === COMMON_NAME) commonName = value()
    else if (type === ORGANIZATION) organizations.push(value())
    else if (type === KUBERNETES_UID) uids.push(value())
  }
  return { commonName, organizations, uids }
}

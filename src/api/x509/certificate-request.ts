/** Thread: any. What a PKCS #10 request asks for: subject, key, and names. Throws DerError for what is none. */
import { firstPemBlock } from '../pem.js'
import { DerError, DerReader, readName } from './der-reader.js'
import { signedSubject } from './signed-subject.js'

const SEQUENCE = 0x30
const SET = 0x31
const OBJECT_IDENTIFIER = 0x06
const BOOLEAN = 0x01
const OCTET_STRING = 0x04
const ATTRIBUTES = 0xa0

const COMMON_NAME = '550403'
const ORGANIZATION = '55040a'
const EXTENSION_REQUEST = '2a864886f70d01090e'
const SUBJECT_ALT_NAME = '551d11'

/** The names of a certificate by the tags that they have there. */
export const NAME_TAGS = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const

export interface AlternativeName {
  readonly kind: keyof typeof NAME_TAGS
  readonly bytes: Uint8Array
}

export interface CertificateRequest {
  /** The subject as DER, as it is signed. */
  readonly subject: Uint8Array
  /** The public key (SubjectPublicKeyInfo) as DER. */
  readonly publicKey: Uint8Array
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly names: readonly AlternativeName[]
}

export function parseCertificateRequest(pem: string): CertificateRequest {
  const block = firstPemBlock(pem)
  if (block?.type !== 'CERTIFICATE REQUEST') throw new DerError('PEM block type must be CERTIFICATE REQUEST')
  const info = new DerReader(block.bytes).expect(SEQUENCE).expect(SEQUENCE)
  info.next()
  const attributes = readName(info.expect(SEQUENCE))
  const publicKey = info.raw()
  let commonName = ''
  const organizations: string[] = []
  for (const { type, value } of attributes) {
    if (type === COMMON_NAME) commonName = value()
    else if (type === ORGANIZATION) organizations.push(value())
  }
  const subject = signedSubject(attributes)
  return { subject, publicKey, commonName, organizations, names: info.done() ? [] : alternativeNames(info) }
}

function alternativeNames(info: DerReader): AlternativeName[] {
  const attributes = info.expect(ATTRIBUTES)
  const names: AlternativeName[] = []
  while (!attributes.done()) {
    const attribute = attributes.expect(SEQUENCE)
    if (identifier(attribute) !== EXTENSION_REQUEST) continue
    const extensions = attribute.expect(SET).expect(SEQUENCE)
    while (!extensions.done()) {
      const extension = extensions.expect(SEQUENCE)
      if (identifier(extension) !== SUBJECT_ALT_NAME) continue
      if (extension.tag() === BOOLEAN) extension.next()
      names.push(...generalNames(new DerReader(extension.expect(OCTET_STRING).bytes()).expect(SEQUENCE)))
    }
  }
  return names
}

function generalNames(list: DerReader): AlternativeName[] {
  const names: AlternativeName[] = []
  while (!list.done()) {
    const tag = list.tag()
    const bytes = list.next().bytes()
    const kind = (Object.keys(NAME_TAGS) as (keyof typeof NAME_TAGS)[]).find((one) => NAME_TAGS[one] === tag)
    // Names of other kinds are left out of certificates, as Go leaves them out.
    if (kind !== undefined) names.push({ kind, bytes })
  }
  return names
}

const identifier = (reader: DerReader): string => Buffer.from(reader.expect(OBJECT_IDENTIFIER).bytes()).toString('hex')

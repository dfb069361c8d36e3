/**
 * Thread: controllers. An authority that signs what requests ask for. Its two files are read for each signature, so that one that
 * was replaced counts at once; signatures are rare.
 */
import { createPrivateKey, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type CertificateRequest, NAME_TAGS } from '../../api/x509/certificate-request.js'
import { DerReader } from '../../api/x509/der-reader.js'
import { bitString, element, integer, octetString, oid, sequence, time, trueValue } from '../../api/x509/der-writer.js'
import { Unfinished } from '../framework/unfinished.js'

const SEQUENCE = 0x30
/** Clocks of those who verify may be behind. */
const BACKDATED_MS = 5 * 60_000
/** A life shorter than this is not shortened by what it begins earlier. */
const SHORT_MS = 8 * 3_600_000
const NULL = Buffer.of(0x05, 0x00)

/** Bits of the extension keyUsage by what Kubernetes calls them. */
const KEY_USAGES: ReadonlyMap<string, number> = new Map([
  ['signing', 0],
  ['digital signature', 0],
  ['content commitment', 1],
  ['key encipherment', 2],
  ['data encipherment', 3],
  ['key agreement', 4],
  ['cert sign', 5],
  ['crl sign', 6],
  ['encipher only', 7],
  ['decipher only', 8],
])
const EXTENDED_USAGES: ReadonlyMap<string, string> = new Map([
  ['any', '2.5.29.37.0'],
  ['server auth', '1.3.6.1.5.5.7.3.1'],
  ['client auth', '1.3.6.1.5.5.7.3.2'],
  ['code signing', '1.3.6.1.5.5.7.3.3'],
  ['email protection', '1.3.6.1.5.5.7.3.4'],
  ['s/mime', '1.3.6.1.5.5.7.3.4'],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', '1.3.6.1.5.5.7.3.8'],
  ['ocsp signing', '1.3.6.1.5.5.7.3.9'],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
])

export interface AuthorityFiles {
  readonly certFile: string
  readonly keyFile: string
}

export interface SigningWish {
  readonly request: CertificateRequest
  readonly usages: readonly string[]
  readonly lifeMs: number
  readonly nowMs: number
}

/** The certificate as PEM. Throws when the authority has expired, or a usage is unknown. */
export async function signCertificate({ certFile, keyFile }: AuthorityFiles, wish: SigningWish): Promise<string> {
  const certificate = new X509Certificate(await readFile(certFile))
  const key = createPrivateKey(await readFile(keyFile))
  const authority = describe(certificate.raw)
  const { request, usages, lifeMs, nowMs } = wish
  const endMs = Date.parse(certificate.validTo)
  if (nowMs >= endMs) throw new Error(`the signer has expired: NotAfter=${certificate.validTo}`)
  const untilMs = Math.min(endMs, nowMs + (lifeMs < SHORT_MS ? lifeMs : lifeMs - BACKDATED_MS))
  const { algorithm, digest } = signatureBy(key)
  const serial = randomBytes(16)
  serial[0]! &= 0x7f
  const body = sequence(
    element(0xa0, integer(Buffer.of(2))),
    integer(serial),
    algorithm,
    authority.subject,
    sequence(time(nowMs - BACKDATED_MS), time(untilMs)),
    request.subject,
    request.publicKey,
    element(0xa3, sequence(...extensions(request, usages, authority.keyIdentifier))),
  )
  const signed = sequence(body, algorithm, bitString(sign(digest, body, key)))
  const lines = signed.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

function extensions(
  { names, subject }: CertificateRequest,
  usages: readonly string[],
  keyIdentifier: Uint8Array | undefined,
): Buffer[] {
  const extension = (type: string, isCritical: boolean, value: Buffer): Buffer =>
    sequence(oid(type), ...(isCritical ? [trueValue()] : []), octetString(value))
  const bits: number[] = []
  const extended = new Set<string>()
  for (const usage of usages) {
    const [bit, purpose] = [KEY_USAGES.get(usage), EXTENDED_USAGES.get(usage)]
    if (bit !== undefined) bits.push(bit)
    else if (purpose !== undefined) extended.add(purpose)
    else throw new Unfinished(`unrecognized usage: ${JSON.stringify(usage)}`)
  }
  const all: Buffer[] = []
  if (bits.length > 0) all.push(extension('2.5.29.15', true, usageBits(bits)))
  if (extended.size > 0) all.push(extension('2.5.29.37', false, sequence(...[...extended].sort().map(oid))))
  all.push(extension('2.5.29.19', true, sequence()))
  if (keyIdentifier !== undefined) all.push(extension('2.5.29.35', false, sequence(element(0x80, keyIdentifier))))
  // Whoever has no subject is known by these names alone.
  if (names.length > 0)
    all.push(
      extension(
        '2.5.29.17',
        new DerReader(subject).expect(SEQUENCE).done(),
        sequence(...names.map(({ kind, bytes }) => element(NAME_TAGS[kind], bytes))),
      ),
    )
  return all
}

function usageBits(bits: readonly number[]): Buffer {
  const highest = Math.max(...bits)
  const bytes = Buffer.alloc(highest < 8 ? 1 : 2)
  for (const bit of bits) bytes[bit >> 3]! |= 0x80 >> (bit & 7)
  return bitString(bytes, 7 - (highest & 7))
}

function signatureBy(key: KeyObject): { readonly algorithm: Buffer; readonly digest: string | null } {
  if (key.asymmetricKeyType === 'rsa')
    return { algorithm: sequence(oid('1.2.840.113549.1.1.11'), NULL), digest: 'sha256' }
  if (key.asymmetricKeyType === 'ed25519') return { algorithm: sequence(oid('1.3.101.112')), digest: null }
  const curve = key.asymmetricKeyDetails?.namedCurve
  if (curve === 'secp384r1') return { algorithm: sequence(oid('1.2.840.10045.4.3.3')), digest: 'sha384' }
  if (curve === 'secp521r1') return { algorithm: sequence(oid('1.2.840.10045.4.3.4')), digest: 'sha512' }
  return { algorithm: sequence(oid('1.2.840.10045.4.3.2')), digest: 'sha256' }
}

/** The subject of a certificate as DER, and the identifier of its key when it states one. */
function describe(der: Uint8Array): { readonly subject: Uint8Array; readonly keyIdentifier: Uint8Array | undefined } {
  const body = new DerReader(der).expect(SEQUENCE).expect(SEQUENCE)
  if (body.tag() === 0xa0) body.next()
  // Steps over serial number, signature algorithm, issuer and validity.
  for (let i = 0; i < 4; i++) body.next()
  const subject = body.raw()
  body.next()
  while (!body.done()) {
    if (body.tag() !== 0xa3) {
      body.next()
      continue
    }
    const list = body.next().expect(SEQUENCE)
    while (!list.done()) {
      const extension = list.expect(SEQUENCE)
      const type = Buffer.from(extension.expect(0x06).bytes()).toString('hex')
      if (type !== '551d0e') continue
      if (extension.tag() === 0x01) extension.next()
      return { subject, keyIdentifier: new DerReader(extension.expect(0x04).bytes()).expect(0x04).bytes() }
    }
  }
  return { subject, keyIdentifier: undefined }
}

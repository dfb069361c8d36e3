/**
 * Thread: main. Makes certificates with P-256 keys. Written over node:crypto: the library at hand (@peculiar/x509) takes
 * 300 to 650 ms to load, which is more than the whole start may cost; this takes a millisecond a certificate.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import { isIP } from 'node:net'
import {
  bitString,
  element,
  integer,
  octetString,
  oid,
  sequence,
  set,
  time,
  trueValue,
  utf8String,
} from '../../api/x509/der-writer.js'

export interface CertificateSpec {
  readonly commonName: string
  readonly organizations?: readonly string[]
  readonly use: 'authority' | 'server' | 'client'
  /** The names and addresses of a server's certificate. */
  readonly hosts?: readonly string[]
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

export interface KeyAndCertificate {
  /** The certificate as PEM. */
  readonly certificate: string
  /** The private key as PEM, PKCS #8. */
  readonly key: string
}

interface Issuer {
  readonly name: Buffer
  readonly key: KeyObject
  readonly publicKey: KeyObject
}

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'))
const USAGES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const

/**
 * Makes a P-256 key, as PEM, PKCS #8. Key objects that generateKeyPairSync() returns are not used: in Node 20 they share a lock with
 * the job that made them. When the garbage collector ends that job while export() holds the lock, the thread waits for itself, and
 * the start never ends (seen once, on a busy machine). Key objects that are read from PEM have a lock of their own.
 */
export function makeKey(): string {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return privateKey
}

/** Makes a certificate; without an issuer it is self-signed. */
export function makeCertificate(spec: CertificateSpec, issuer?: Issuer): KeyAndCertificate {
  const key = makeKey()
  const [privateKey, publicKey] = [createPrivateKey(key), createPublicKey(key)]
  const by = issuer ?? { name: subject(spec), key: privateKey, publicKey }
  const serial = randomBytes(16)
  serial[0]! &= 0x7f
  const body = sequence(
    element(0xa0, integer(Buffer.of(2))),
    integer(serial),
    ECDSA_WITH_SHA256,
    by.name,
    sequence(time(spec.notBeforeMs), time(spec.notAfterMs)),
    subject(spec),
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(...extensions(spec, publicKey, by.publicKey))),
  )
  const certificate = sequence(body, ECDSA_WITH_SHA256, bitString(sign('sha256', body, by.key)))
  return { certificate: pem('CERTIFICATE', certificate), key }
}

/** The issuer that signs with this key, under the name of its certificate. */
export function issuerOf(commonName: string, key: string, publicKey: KeyObject): Issuer {
  return { name: subject({ commonName }), key: createPrivateKey(key), publicKey }
}

function subject({ commonName, organizations = [] }: Pick<CertificateSpec, 'commonName' | 'organizations'>): Buffer {
  const attribute = (type: string, text: string): Buffer => set(sequence(oid(type), utf8String(text)))
  return sequence(...organizations.map((name) => attribute('2.5.4.10', name)), attribute('2.5.4.3', commonName))
}

function extensions(spec: CertificateSpec, publicKey: KeyObject, issuerKey: KeyObject): Buffer[] {
  const extension = (type: string, critical: boolean, value: Buffer): Buffer =>
    sequence(oid(type), ...(critical ? [trueValue()] : []), octetString(value))
  const authority = spec.use === 'authority'
  const all = [
    // The usage of the key: digitalSignature; for an authority also keyCertSign and cRLSign.
    extension('2.5.29.15', true, authority ? bitString(Buffer.of(0x86), 1) : bitString(Buffer.of(0x80), 7)),
    extension('2.5.29.19', true, authority ? sequence(trueValue()) : sequence()),
    extension('2.5.29.14', false, octetString(keyIdentifier(publicKey))),
    extension('2.5.29.35', false, sequence(element(0x80, keyIdentifier(issuerKey)))),
  ]
  if (spec.use !== 'authority') all.push(extension('2.5.29.37', false, sequence(oid(USAGES[spec.use]))))
  const { hosts = [] } = spec
  if (hosts.length > 0) all.push(extension('2.5.29.17', false, sequence(...hosts.map(generalName))))
  return all
}

/** SHA-1 of the key's bits, as RFC 5280 proposes; a name, not a safeguard. */
function keyIdentifier(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' }) as Record<string, string>
  return createHash('sha1')
    .update(Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]))
    .digest()
}

function generalName(host: string): Buffer {
  const version = isIP(host)
  if (version === 0) return element(0x82, Buffer.from(host))
  return element(0x87, version === 4 ? Buffer.from(host.split('.').map(Number)) : ipv6Bytes(host))
}

function ipv6Bytes(address: string): Buffer {
  const plain = address.split('%', 1)[0]!
  // The last 32 bits may be written as an IPv4 address.
  const [, before = plain, ipv4] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(plain) ?? []
  const text =
    ipv4 === undefined
      ? plain
      : before + [0, 2].map((i) => Buffer.from(ipv4.split('.').map(Number)).readUInt16BE(i).toString(16)).join(':')
  const [head = '', tail] = text.split('::')
  const groups = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  const front = groups(head)
  const back = tail === undefined ? [] : groups(tail)
  const all = [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back]
  const bytes = Buffer.alloc(16)
  for (const [i, group] of all.entries()) bytes.writeUInt16BE(group, i * 2)
  return bytes
}

function pem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

export interface Identity {
  /** PEM */
  readonly certificate: string
  /** PEM */
  readonly key: string
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

const HOUR_MS = 3_600_000

/** An authority for one test: what it signs is good for loopback, and for an hour unless told otherwise. */
export class TestAuthority {
  readonly certificate: string
  readonly #issuer: x509.X509Certificate
  readonly #keys: webcrypto.CryptoKeyPair
  #serial = 1

  private constructor(issuer: x509.X509Certificate, keys: webcrypto.CryptoKeyPair) {
    this.#issuer = issuer
    this.#keys = keys
    this.certificate = issuer.toString('pem')
  }

  static async create(): Promise<TestAuthority> {
    x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0])
    const keys = await newKeys()
    const issuer = await x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: '01',
      name: 'CN=test authority',
      keys,
      signingAlgorithm: ALGORITHM,
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + HOUR_MS),
      extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
    })
    return new TestAuthority(issuer, keys)
  }

  async sign(name: string, lifeMs = HOUR_MS): Promise<Identity> {
    const keys = await newKeys()
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: (++this.#serial).toString(16).padStart(2, '0'),
      subject: name,
      issuer: this.#issuer.subject,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      signingAlgorithm: ALGORITHM,
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + lifeMs),
      extensions: [
        new x509.SubjectAlternativeNameExtension([
          { type: 'dns', value: 'localhost' },
          { type: 'ip', value: '127.0.0.1' },
        ]),
      ],
    })
    const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
    return {
      certificate: certificate.toString('pem'),
      key: `-----BEGIN PRIVATE KEY-----\n${key.replace(/(.{64})/g, '$1\n')}\n-----END PRIVATE KEY-----\n`,
    }
  }
}

const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>

/** A certificate request (PEM) of a new key. */
export async function certificateRequest(name: string, hosts: readonly string[]): Promise<string> {
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0])
  const names = hosts.map((value) => ({ type: /^[0-9.]+$/.test(value) ? ('ip' as const) : ('dns' as const), value }))
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name,
    keys: await newKeys(),
    signingAlgorithm: ALGORITHM,
    ...(names.length === 0 ? {} : { extensions: [new x509.SubjectAlternativeNameExtension(names)] }),
  })
  return request.toString('pem')
}

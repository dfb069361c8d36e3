import { X509Certificate } from 'node:crypto'
import type { Credentials } from '#keelson/auth/interface.js'
import { issuerOf, type KeyAndCertificate, makeCertificate } from '#keelson/main/certificates/certificate.js'

/** What a request shows: headers as pairs, because a name may come more than once. */
export function credentials(
  headers: readonly (readonly [string, string])[] = [],
  certificate = '',
  path = '/',
): Credentials {
  const values = (name: string): string[] => headers.filter(([key]) => key === name).map(([, value]) => value)
  return {
    authorization: values('authorization')[0] ?? '',
    header: (name) => values(name).join(','),
    forEachHeader: (visit) => {
      for (const [name, value] of headers) visit(name, value)
    },
    clientCertificate: () => certificate,
    remoteAddress: () => '127.0.0.1',
    head: { rawPath: path },
  }
}

/** An authority that signs client certificates. */
export class TestAuthority {
  readonly #own: KeyAndCertificate
  readonly #nowMs: number

  constructor(nowMs: number) {
    this.#nowMs = nowMs
    this.#own = makeCertificate({ commonName: 'test-ca', use: 'authority', ...this.#life() })
  }

  get pem(): string {
    return this.#own.certificate
  }

  client(commonName: string, organizations: string[] = [], use: 'client' | 'server' = 'client'): string {
    const issuer = issuerOf('test-ca', this.#own.key, new X509Certificate(this.#own.certificate).publicKey)
    return makeCertificate({ commonName, organizations, use, ...this.#life() }, issuer).certificate
  }

  #life(): { notBeforeMs: number; notAfterMs: number } {
    return { notBeforeMs: this.#nowMs - 60_000, notAfterMs: this.#nowMs + 3600_000 }
  }
}

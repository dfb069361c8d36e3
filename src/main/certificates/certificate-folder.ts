/**
 * Thread: main. The folder --cert-dir: an authority, what it signs, and the key of service-account tokens, made when they
 * are first needed and again before they end. Names are kubeadm's where it has one.
 *
 *   ca.crt ca.key                 ten years; signs the others
 *   apiserver.crt apiserver.key   a year; for every name and address of the server
 *   admin.crt admin.key           a year; system:masters
 *   admin.kubeconfig              with these inside
 *   sa.key                        signs service-account tokens; never replaced
 */
import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import path from 'node:path'
import { type CertificateSpec, issuerOf, type KeyAndCertificate, makeCertificate } from './certificate.js'

const DAY_MS = 24 * 3600 * 1000
const AUTHORITY_LIFE_MS = 3650 * DAY_MS
const LIFE_MS = 365 * DAY_MS
/** Clocks of clients may be behind. */
const BACKDATED_MS = 3600 * 1000
/** What has less than this part of its life left is made anew. */
const RENEW_AT = 1 / 4
const AUTHORITY_NAME = 'keelson-ca'
export const ADMIN_NAME = 'kubernetes-admin'

export interface Pair {
  readonly certFile: string
  readonly keyFile: string
}

export class CertificateFolder {
  readonly #folder: string
  readonly #now: () => number

  constructor(folder: string, now: () => number) {
    this.#folder = folder
    this.#now = now
  }

  file(name: string): string {
    return path.join(this.#folder, name)
  }

  get authorityFile(): string {
    return this.file('ca.crt')
  }

  /** For all of the hosts; made anew when one is missing. */
  server(hosts: readonly string[]): Pair {
    return this.#pair('apiserver', { commonName: 'kube-apiserver', use: 'server', hosts })
  }

  admin(): Pair {
    return this.#pair('admin', { commonName: ADMIN_NAME, organizations: ['system:masters'], use: 'client' })
  }

  serviceAccountKeyFile(): string {
    const file = this.file('sa.key')
    if (!existsSync(file)) {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      this.write('sa.key', privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)
    }
    return file
  }

  /** The file is there whole or not at all, and only its owner may read it. */
  write(name: string, text: string, mode = 0o600): string {
    if (!existsSync(this.#folder)) mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const file = this.file(name)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) return file
    const temporary = `${file}.new`
    writeFileSync(temporary, text, { mode })
    chmodSync(temporary, mode)
    renameSync(temporary, file)
    return file
  }

  #pair(name: string, spec: Pick<CertificateSpec, 'commonName' | 'organizations' | 'use' | 'hosts'>): Pair {
    const authority = this.#authority()
    const pair = { certFile: this.file(`${name}.crt`), keyFile: this.file(`${name}.key`) }
    const existing = this.#read(name)
    if (existing !== undefined && this.#isGood(existing, authority, spec.hosts ?? [])) return pair
    const { certificate, key } = makeCertificate(
      { ...spec, ...this.#life(LIFE_MS, Date.parse(authority.certificate.validTo)) },
      issuerOf(AUTHORITY_NAME, authority.key, authority.certificate.publicKey),
    )
    // The key first: until the certificate is there too, the two do not fit, and nobody takes them over.
    this.write(`${name}.key`, key)
    this.write(`${name}.crt`, certificate, 0o644)
    return pair
  }

  #authority(): { readonly certificate: X509Certificate; readonly key: string } {
    let existing = this.#read('ca')
    if (existing === undefined || !this.#hasTime(new X509Certificate(existing.certificate))) {
      existing = makeCertificate({ commonName: AUTHORITY_NAME, use: 'authority', ...this.#life(AUTHORITY_LIFE_MS) })
      this.write('ca.key', existing.key)
      this.write('ca.crt', existing.certificate, 0o644)
    }
    return { certificate: new X509Certificate(existing.certificate), key: existing.key }
  }

  #read(name: string): KeyAndCertificate | undefined {
    const [certFile, keyFile] = [this.file(`${name}.crt`), this.file(`${name}.key`)]
    if (!existsSync(certFile) || !existsSync(keyFile)) return undefined
    return { certificate: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  }

  #isGood(pair: KeyAndCertificate, authority: { certificate: X509Certificate }, hosts: readonly string[]): boolean {
    const certificate = new X509Certificate(pair.certificate)
    return (
      this.#hasTime(certificate) &&
      certificate.verify(authority.certificate.publicKey) &&
      certificate.publicKey.equals(createPublicKey(pair.key)) &&
      hosts.every((host) => isFor(certificate, host))
    )
  }

  #hasTime({ validFrom, validTo }: X509Certificate): boolean {
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)]
    return this.#now() >= from && to - this.#now() > (to - from) * RENEW_AT
  }

  #life(ms: number, endMs = Number.POSITIVE_INFINITY): { notBeforeMs: number; notAfterMs: number } {
    const now = this.#now()
    return { notBeforeMs: now - BACKDATED_MS, notAfterMs: Math.min(now + ms, endMs) }
  }
}

function isFor(certificate: X509Certificate, host: string): boolean {
  if (isIP(host) !== 0) return certificate.checkIP(host) !== undefined
  return certificate.checkHost(host, { subject: 'never' }) !== undefined
}

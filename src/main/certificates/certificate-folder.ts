/**
 * Thread: main. The folder --cert-dir: an authority, what it signs, and the key of service-account tokens, made when they
 * are first needed and again before they end. Names are kubeadm's where it has one.
 *
 *   ca.crt ca.key                 ten years; signs the others
 *   apiserver.crt apiserver.key   a year; for every name and address of the server
 *   admin.crt admin.key           a year; system:masters
 *   admin.kubeconfig              with these inside
 *   sa.key                        signs service-account tokens; never replaced
 *   front-proxy-ca.crt .key       ten years; an authority of its own: whoever it signs may name users in headers
 *   front-proxy-client.crt .key   a year; this server's, shown to extension API servers
 */
import { createPublicKey, X509Certificate } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import path from 'node:path'
import { folderProblem } from '../flags/file-checks.js'
import { type CertificateSpec, issuerOf, type KeyAndCertificate, makeCertificate, makeKey } from './certificate.js'

const DAY_MS = 24 * 3600 * 1000
const AUTHORITY_LIFE_MS = 3650 * DAY_MS
const LIFE_MS = 365 * DAY_MS
/** Certificates begin so long ago, because the clocks of clients may be behind. */
const BACKDATED_MS = 3600 * 1000
/** A certificate with less than this part of its life left is made anew. */
const RENEW_AT = 1 / 4
/** An authority: its file, and its name in certificates. */
interface AuthorityName {
  readonly file: string
  readonly commonName: string
}
const AUTHORITY: AuthorityName = { file: 'ca', commonName: 'keelson-ca' }
const FRONT_PROXY_AUTHORITY: AuthorityName = { file: 'front-proxy-ca', commonName: 'keelson-front-proxy-ca' }
/** The common name of this server's certificate as a front proxy; kubeadm's. */
export const FRONT_PROXY_NAME = 'front-proxy-client'
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

  /** The server's certificate for all of the hosts; it is made anew when it lacks one. */
  server(hosts: readonly string[]): Pair {
    return this.#pair('apiserver', { commonName: 'kube-apiserver', use: 'server', hosts })
  }

  admin(): Pair {
    return this.#pair('admin', { commonName: ADMIN_NAME, organizations: ['system:masters'], use: 'client' })
  }

  get frontProxyAuthorityFile(): string {
    this.frontProxy()
    return this.file(`${FRONT_PROXY_AUTHORITY.file}.crt`)
  }

  frontProxy(): Pair {
    return this.#pair('front-proxy-client', { commonName: FRONT_PROXY_NAME, use: 'client' }, FRONT_PROXY_AUTHORITY)
  }

  serviceAccountKeyFile(): string {
    const file = this.file('sa.key')
    if (!existsSync(file)) this.write('sa.key', makeKey())
    return file
  }

  /** Writes a file whole or not at all; only its owner may read it. */
  write(name: string, text: string, mode = 0o600): string {
    this.#makeFolder()
    const file = this.file(name)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) return file
    const temporary = `${file}.new`
    writeFileSync(temporary, text, { mode })
    chmodSync(temporary, mode)
    renameSync(temporary, file)
    return file
  }

  /** --cert-dir is looked at before the start; the folder that stands in for one that was not given is not. */
  #makeFolder(): void {
    if (existsSync(this.#folder)) return
    const problem = folderProblem(this.#folder)
    if (problem !== undefined) throw new Error(`${problem}; --cert-dir chooses where certificates are kept`)
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
  }

  #pair(
    name: string,
    spec: Pick<CertificateSpec, 'commonName' | 'organizations' | 'use' | 'hosts'>,
    by = AUTHORITY,
  ): Pair {
    const authority = this.#authority(by)
    const pair = { certFile: this.file(`${name}.crt`), keyFile: this.file(`${name}.key`) }
    const existing = this.#read(name)
    if (existing !== undefined && this.#isGood(existing, authority, spec.hosts ?? [])) return pair
    const { certificate, key } = makeCertificate(
      { ...spec, ...this.#life(LIFE_MS, Date.parse(authority.certificate.validTo)) },
      issuerOf(by.commonName, authority.key, authority.certificate.publicKey),
    )
    // The key is written first: until the certificate is there too, the two do not fit, and nobody takes them.
    this.write(`${name}.key`, key)
    this.write(`${name}.crt`, certificate, 0o644)
    return pair
  }

  #authority({ file, commonName }: AuthorityName): { readonly certificate: X509Certificate; readonly key: string } {
    let existing = this.#read(file)
    if (existing === undefined || !this.#hasTime(new X509Certificate(existing.certificate))) {
      existing = makeCertificate({ commonName, use: 'authority', ...this.#life(AUTHORITY_LIFE_MS) })
      this.write(`${file}.key`, existing.key)
      this.write(`${file}.crt`, existing.certificate, 0o644)
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

/**
 * The certificates of a run in which everybody talks TLS: files that their owners were named at the start, and that are replaced while the
 * owners run, by ones that end soon or hold for the rest of the run.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { TestAuthority } from '../../support/certificates.js'

const HOUR_MS = 3_600_000

export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

export class Certificates {
  readonly authorityFile: string
  readonly #authority: TestAuthority
  readonly #folder: string
  readonly #names = new Set<string>()

  private constructor(authority: TestAuthority, folder: string) {
    this.#authority = authority
    this.#folder = folder
    this.authorityFile = path.join(folder, 'authority.crt')
    writeFileSync(this.authorityFile, authority.certificate)
  }

  static async create(folder: string): Promise<Certificates> {
    mkdirSync(folder, { recursive: true })
    return new Certificates(await TestAuthority.create(), folder)
  }

  /** PEM */
  get authority(): string {
    return this.#authority.certificate
  }

  files(name: string): CertificateFiles {
    return { certFile: path.join(this.#folder, `${name}.crt`), keyFile: path.join(this.#folder, `${name}.key`) }
  }

  /** A new key and a certificate for it, which ends after so long, to the second below. Each file is whole at any moment; the pair is not. */
  async issue(name: string, lifeMs = HOUR_MS): Promise<CertificateFiles> {
    this.#names.add(name)
    const { certificate, key } = await this.#authority.sign(`CN=${name}`, lifeMs)
    const files = this.files(name)
    replace(files.keyFile, key)
    replace(files.certFile, certificate)
    return files
  }

  /** None ends within the run. */
  async renewAll(): Promise<void> {
    for (const name of this.#names) await this.issue(name)
  }
}

function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

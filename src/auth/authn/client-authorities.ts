/** Thread: any. The authorities whose client certificates count, and whether one of them signed a certificate. */

import { X509Certificate } from 'node:crypto'
import { certificateBlocks } from '../../api/pem.js'
import { DerError } from '../../api/x509/der-reader.js'
import { InvalidCredentials } from '../interface.js'
import { type CertificateSubject, certificateSubject } from './der-subject.js'

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const ANY_USAGE = '2.5.29.37.0'

export class CertificateFileError extends Error {
  override readonly name = 'CertificateFileError'
}

export interface VerifiedCertificate {
  readonly subject: CertificateSubject
  /** The SHA-256 of the DER in hexadecimal. */
  readonly fingerprint: string
  /** The moment after which the certificate counts no more. */
  readonly validToMs: number
}

export class ClientAuthorities {
  readonly #authorities: readonly X509Certificate[]

  /** Takes PEM, several certificates in one text. Throws CertificateFileError. */
  constructor(pem: string) {
    this.#authorities = certificatesIn(pem)
    if (this.#authorities.length === 0) throw new CertificateFileError('there is no certificate in the file')
  }

  /**
   * The certificate must be signed by one of the authorities itself; intermediate ones belong into the bundle. TLS has
   * checked that the client holds its key. Throws InvalidCredentials.
   */
  verify(pem: string, nowMs: number): VerifiedCertificate {
    const certificate = parse(pem)
    if (!isValidAt(certificate, nowMs))
      throw new InvalidCredentials(
        `the client certificate is valid from ${certificate.validFrom} to ${certificate.validTo} only`,
      )
    if (!allowsClients(certificate)) throw new InvalidCredentials('the client certificate is not for clients')
    const signed = this.#authorities.some(
      (authority) =>
        authority.ca &&
        isValidAt(authority, nowMs) &&
        allowsClients(authority) &&
        certificate.checkIssued(authority) &&
        certificate.verify(authority.publicKey),
    )
    if (!signed) throw new InvalidCredentials('the client certificate is signed by an unknown authority')
    return {
      subject: subjectOf(certificate),
      fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
      validToMs: Date.parse(certificate.validTo),
    }
  }
}

export function certificatesIn(pem: string): X509Certificate[] {
  return certificateBlocks(pem).map((block) => {
    try {
      return new X509Certificate(block)
    } catch (error) {
      throw new CertificateFileError(`not a certificate: ${error instanceof Error ? error.message : String(error)}`)
    }
  })
}

function parse(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (error) {
    throw new InvalidCredentials(`not a certificate: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const isValidAt = ({ validFrom, validTo }: X509Certificate, nowMs: number): boolean =>
  Date.parse(validFrom) <= nowMs && nowMs <= Date.parse(validTo)

/**
 * Whether the certificate is for clients. One that names no usage is for all; node:crypto calls extended usages
 * keyUsage.
 */
function allowsClients({ keyUsage }: X509Certificate): boolean {
  const usages = keyUsage as string[] | undefined
  return usages === undefined || usages.includes(CLIENT_AUTH) || usages.includes(ANY_USAGE)
}

function subjectOf({ raw }: X509Certificate): CertificateSubject {
  try {
    return certificateSubject(raw)
  } catch (error) {
    if (error instanceof DerError) throw new InvalidCredentials(`the subject of the certificate: ${error.message}`)
    throw error
  }
}

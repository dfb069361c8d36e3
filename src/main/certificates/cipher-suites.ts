/** Thread: main. Cipher suites and versions of TLS, from the names that kube-apiserver's flags have to OpenSSL's. */
import { lookupTable } from '../../lib/lookup-table.js'

export const TLS_VERSIONS = ['VersionTLS12', 'VersionTLS13'] as const

/** The suites of TLS 1.2; those of 1.3 are all safe and cannot be chosen, in kube-apiserver as here. */
const SUITES: Readonly<Record<string, string>> = lookupTable({
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
})
const OF_VERSION_13 = new Set(['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'])

/**
 * uWebSockets.js has no setting for the version. With a suite of TLS 1.2 that needs a key which nobody has agreed on, only
 * 1.3 is left.
 */
const NOTHING_OF_VERSION_12 = 'ECDHE-PSK-AES128-CBC-SHA'

/** The default suites have forward secrecy and authenticated encryption. */
const DEFAULT = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

export const unknownSuites = (names: readonly string[]): string[] =>
  names.filter((name) => SUITES[name] === undefined && !OF_VERSION_13.has(name))

/** The suites as OpenSSL takes them; the names were checked before. */
export function cipherList(minVersion: string, suites: readonly string[]): string {
  if (minVersion === 'VersionTLS13') return NOTHING_OF_VERSION_12
  if (suites.length === 0) return DEFAULT
  const chosen = suites.flatMap((name) => SUITES[name] ?? [])
  return chosen.length === 0 ? NOTHING_OF_VERSION_12 : chosen.join(':')
}

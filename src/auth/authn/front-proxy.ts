/**
 * Thread: any. Users whom a proxy in front of the server names in headers. Only a client that shows a certificate of the
 * proxies' own authority, and with one of the names that are allowed, is believed; from all others the headers mean nothing.
 */
import type { Clock } from '../../lib/clock.js'
import type { FrontProxyHeaders } from '../../protocol/server-credentials.js'
import { type Authenticated, type Authenticator, type Credentials, InvalidCredentials } from '../interface.js'
import type { ClientAuthorities } from './client-authorities.js'
import { ExpiringMap } from './expiring-map.js'

const TTL_MS = 10_000
const LIMIT = 256

export class FrontProxy implements Authenticator {
  readonly #clock: Clock
  #headers: FrontProxyHeaders
  /** Certificates that were found to be a proxy's. */
  readonly #proxies: ExpiringMap<true>
  #authorities: ClientAuthorities

  constructor(authorities: ClientAuthorities, headers: FrontProxyHeaders, clock: Clock) {
    this.#authorities = authorities
    this.#clock = clock
    this.#headers = lowerCased(headers)
    this.#proxies = new ExpiringMap({ clock, ttlMs: TTL_MS, limit: LIMIT })
  }

  replaceAuthorities(authorities: ClientAuthorities, headers: FrontProxyHeaders | undefined): void {
    this.#authorities = authorities
    if (headers !== undefined) this.#headers = lowerCased(headers)
    this.#proxies.clear()
  }

  authenticate(credentials: Credentials): Authenticated | undefined {
    // Most clients name nobody: their certificate is not looked at here.
    if (!this.#headers.username.some((name) => credentials.header(name) !== '')) return undefined
    const pem = credentials.clientCertificate()
    if (pem === '') return undefined
    this.#check(pem)
    return this.#named(credentials)
  }

  #check(pem: string): void {
    if (this.#proxies.get(pem) === true) return
    const { subject } = this.#authorities.verify(pem, this.#clock.now())
    const { allowedNames } = this.#headers
    if (allowedNames.length > 0 && !allowedNames.includes(subject.commonName))
      throw new InvalidCredentials(`the front proxy ${JSON.stringify(subject.commonName)} is not in the allowed list`)
    this.#proxies.set(pem, true)
  }

  #named(credentials: Credentials): Authenticated | undefined {
    const { username, uid, group, extraPrefixes } = this.#headers
    const values = new Map<string, string[]>()
    const extra: Record<string, string[]> = Object.create(null) as Record<string, string[]>
    credentials.forEachHeader((name, value) => {
      const known = values.get(name)
      if (known === undefined) values.set(name, [value])
      else known.push(value)
      for (const prefix of extraPrefixes) {
        if (name.startsWith(prefix)) extraValues(extra, unescapeKey(name.slice(prefix.length))).push(value)
      }
    })
    const first = (names: readonly string[]): string => {
      for (const name of names) {
        const [value = ''] = values.get(name) ?? []
        if (value !== '') return value
      }
      return ''
    }
    const name = first(username)
    if (name === '') return undefined
    const groups = group.flatMap((header) => values.get(header) ?? []).filter((value) => value !== '')
    return { user: { name, uid: first(uid), groups, extra: { ...extra } } }
  }
}

function lowerCased({ allowedNames, username, uid, group, extraPrefixes }: FrontProxyHeaders): FrontProxyHeaders {
  const lower = (names: readonly string[]): string[] => names.map((name) => name.trim().toLowerCase())
  return {
    allowedNames,
    username: lower(username),
    uid: lower(uid),
    group: lower(group),
    extraPrefixes: lower(extraPrefixes),
  }
}

function extraValues(extra: Record<string, string[]>, key: string): string[] {
  const known = extra[key]
  if (known !== undefined) return known
  const values: string[] = []
  extra[key] = values
  return values
}

/** Decodes a key: keys hold characters that header names do not. Text that is no percent-encoding is taken as it is. */
export function unescapeKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch (error) {
    if (error instanceof URIError) return encoded
    throw error
  }
}

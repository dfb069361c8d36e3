/** Thread: any. Users by their client certificate: the common name is the user, the organisations are the groups. */
import type { Clock } from '../../lib/clock.js'
import { type Authenticated, type Authenticator, type Credentials, InvalidCredentials } from '../interface.js'
import type { ClientAuthorities } from './client-authorities.js'
import { ExpiringMap } from './expiring-map.js'
import { CREDENTIAL_ID } from './service-account.js'

/** As long as verified tokens are remembered: a certificate that expires is refused at most so much later. */
const TTL_MS = 10_000
const LIMIT = 4096

interface Known {
  readonly authenticated: Authenticated
  readonly validToMs: number
}

export class ClientCertificates implements Authenticator {
  readonly #clock: Clock
  readonly #verified: ExpiringMap<Known>
  readonly #onShown: (remainingMs: number) => void
  #authorities: ClientAuthorities

  /** `onShown` is told for how long a shown certificate is still valid. */
  constructor(authorities: ClientAuthorities, clock: Clock, onShown: (remainingMs: number) => void = () => undefined) {
    this.#onShown = onShown
    this.#authorities = authorities
    this.#clock = clock
    this.#verified = new ExpiringMap({ clock, ttlMs: TTL_MS, limit: LIMIT })
  }

  /** Takes the authorities after their file has changed. */
  replaceAuthorities(authorities: ClientAuthorities): void {
    this.#authorities = authorities
    this.#verified.clear()
  }

  authenticate(credentials: Credentials): Authenticated | undefined {
    const pem = credentials.clientCertificate()
    if (pem === '') return undefined
    const known = this.#verified.get(pem)
    if (known !== undefined) {
      this.#onShown(known.validToMs - this.#clock.now())
      return known.authenticated
    }
    const { subject, fingerprint, validToMs } = this.#authorities.verify(pem, this.#clock.now())
    this.#onShown(validToMs - this.#clock.now())
    if (subject.commonName === '') return undefined
    if (subject.uids.length > 1) throw new InvalidCredentials('the client certificate has more than one UID')
    const authenticated: Authenticated = {
      user: {
        name: subject.commonName,
        uid: subject.uids[0] ?? '',
        groups: subject.organizations,
        extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] },
      },
    }
    this.#verified.set(pem, { authenticated, validToMs })
    return authenticated
  }
}

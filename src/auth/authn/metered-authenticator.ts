/** Thread: any. Authentication, timed and counted as kube-apiserver does. */
import type { Clock } from '../../lib/clock.js'
import { authFamilies } from '../../metrics/families.js'
import type { Recorder, Series } from '../../metrics/recorder.js'
import type { Authenticated, Authenticator, Credentials } from '../interface.js'

/** The user names that become labels; all others are too many. */
const WELL_KNOWN: ReadonlySet<string> = new Set([
  'admin',
  'client',
  'kube_proxy',
  'kubelet',
  'system:serviceaccount:kube-system:default',
])
const SUCCESS = 0
const FAILURE = 1
const ERROR = 2
const RESULTS = ['success', 'failure', 'error'] as const

export class MeteredAuthenticator implements Authenticator {
  readonly #authenticator: Authenticator
  readonly #clock: Clock
  readonly #recorder: Recorder
  readonly #attempts: readonly Series[]
  readonly #durations: readonly Series[]
  readonly #others: Series

  constructor(authenticator: Authenticator, recorder: Recorder, clock: Clock) {
    this.#authenticator = authenticator
    this.#clock = clock
    this.#recorder = recorder
    this.#attempts = RESULTS.map((result) => recorder.series(authFamilies.attempts, result))
    this.#durations = RESULTS.map((result) => recorder.series(authFamilies.duration, result))
    this.#others = recorder.series(authFamilies.users, 'other')
  }

  authenticate(credentials: Credentials): Authenticated | undefined | Promise<Authenticated | undefined> {
    const startedMs = this.#clock.monotonicMs()
    try {
      const found = this.#authenticator.authenticate(credentials)
      return found instanceof Promise ? this.#later(found, startedMs) : this.#counted(found, startedMs)
    } catch (error) {
      this.#count(ERROR, startedMs)
      throw error
    }
  }

  async #later(pending: Promise<Authenticated | undefined>, startedMs: number): Promise<Authenticated | undefined> {
    let found: Authenticated | undefined
    try {
      found = await pending
    } catch (error) {
      this.#count(ERROR, startedMs)
      throw error
    }
    return this.#counted(found, startedMs)
  }

  #counted(found: Authenticated | undefined, startedMs: number): Authenticated | undefined {
    if (found === undefined) {
      this.#count(FAILURE, startedMs)
      return undefined
    }
    this.#count(SUCCESS, startedMs)
    this.#userSeries(found.user.name).add(1)
    return found
  }

  #count(result: number, startedMs: number): void {
    this.#attempts[result]!.add(1)
    this.#durations[result]!.observe((this.#clock.monotonicMs() - startedMs) / 1000)
  }

  #userSeries(name: string): Series {
    if (WELL_KNOWN.has(name)) return this.#recorder.series(authFamilies.users, name)
    return name.includes('@') ? this.#recorder.series(authFamilies.users, 'email_id') : this.#others
  }
}

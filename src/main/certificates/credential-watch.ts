/**
 * Thread: main. Looks at the files behind certificates from time to time; new ones are handed on, broken ones are
 * reported once.
 */
import type { Clock, Timer } from '../../lib/clock.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import type { RenewedCredentials } from '../../protocol/server-credentials.js'

/**
 * Time between two looks, each of which reads four small files; notifications of the file system do not see what mounts
 * and symbolic links hide.
 */
const INTERVAL_MS = 5000

export interface CredentialWatchOptions {
  readonly renew: () => RenewedCredentials | undefined
  readonly take: (renewed: RenewedCredentials) => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

export class CredentialWatch implements Closable {
  readonly #options: CredentialWatchOptions
  #timer: Timer | undefined
  #lastProblem = ''
  #stopped = false
  #last: Promise<void> = Promise.resolve()

  constructor(options: CredentialWatchOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = this.#options.clock.after(INTERVAL_MS, () => {
      void this.#lookAfterLast().then(() => {
        if (!this.#stopped) this.start()
      })
    })
  }

  /** What has changed is not known from files: it is taken without waiting for the next look. */
  lookNow(): void {
    if (!this.#stopped) void this.#lookAfterLast()
  }

  close(): void {
    this.#stopped = true
    this.#timer?.cancel()
  }

  /** Two looks at once could hand on the older of two changes last. */
  #lookAfterLast(): Promise<void> {
    this.#last = this.#last.then(() => this.#look())
    return this.#last
  }

  async #look(): Promise<void> {
    const { renew, take, logger } = this.#options
    try {
      const renewed = renew()
      if (renewed !== undefined) {
        await take(renewed)
        logger.info({ certFile: renewed.tls.certFile }, 'certificates have changed and are used from now on')
      }
      this.#lastProblem = ''
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      if (problem !== this.#lastProblem)
        logger.warn({ problem }, 'certificates have changed but cannot be used; the old ones stay')
      this.#lastProblem = problem
    }
  }
}

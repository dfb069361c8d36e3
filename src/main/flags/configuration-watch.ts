/**
 * Thread: main. Looks at a configuration file from time to time. What has changed and is valid is handed on; what is wrong is
 * reported once, counted, and kept out: the last good configuration stays in force.
 */
import { readFile } from 'node:fs/promises'
import { ConfigurationErrors } from '../../auth/configuration-object.js'
import type { Clock, Timer } from '../../lib/clock.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import { digestOf } from './access-config.js'

/** Time between two looks; notifications of the file system do not see what mounts and symbolic links hide. */
const INTERVAL_MS = 1000

export interface ConfigurationWatchOptions<T> {
  readonly flag: string
  readonly file: string
  /** Of the text that is in force. */
  readonly digest: string
  /** Throws ConfigurationErrors. */
  readonly parse: (text: string) => T
  /** Resolves when the configuration is in force. */
  readonly take: (content: T) => Promise<void>
  /** Called after each change of the file was taken or kept out. */
  readonly onReload: (status: 'success' | 'failure') => void
  readonly clock: Clock
  readonly logger: Logger
}

export class ConfigurationWatch<T> implements Closable {
  readonly #options: ConfigurationWatchOptions<T>
  #timer: Timer | undefined
  /** Of the text that was looked at last, taken or not. */
  #digest: string
  #lastProblem = ''
  #stopped = false

  constructor(options: ConfigurationWatchOptions<T>) {
    this.#options = options
    this.#digest = options.digest
  }

  start(): void {
    this.#timer = this.#options.clock.after(INTERVAL_MS, () => {
      void this.#look().then(() => {
        if (!this.#stopped) this.start()
      })
    })
  }

  close(): void {
    this.#stopped = true
    this.#timer?.cancel()
  }

  async #look(): Promise<void> {
    const { file } = this.#options
    let text: string
    try {
      text = await readFile(file, 'utf8')
    } catch (error) {
      // Whoever replaces a file may take it away first: that alone is no change.
      this.#keptOut([(error as Error).message])
      return
    }
    const digest = digestOf(text)
    if (digest === this.#digest) {
      this.#lastProblem = ''
      return
    }
    this.#digest = digest
    await this.#reload(text)
  }

  async #reload(text: string): Promise<void> {
    const { flag, file, parse, take, onReload, logger } = this.#options
    try {
      await take(parse(text))
      this.#lastProblem = ''
      logger.info({ file }, `the file of --${flag} has changed and is in force`)
      onReload('success')
    } catch (error) {
      this.#keptOut(error instanceof ConfigurationErrors ? error.lines : [String(error)])
    }
  }

  #keptOut(problems: readonly string[]): void {
    const { flag, file, onReload, logger } = this.#options
    const problem = problems.join('; ')
    if (problem === this.#lastProblem) return
    this.#lastProblem = problem
    logger.error(
      { file, problems },
      `the file of --${flag} has changed and cannot be used; the configuration before it stays`,
    )
    onReload('failure')
  }
}

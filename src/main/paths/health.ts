/** Thread: main. /healthz, /livez and /readyz: every check by name, alone or together, with what failed when asked. */
import { processFamilies } from '../../metrics/families.js'
import { noRecorder, type Recorder } from '../../metrics/recorder.js'
import type { Exchange } from '../http/exchange.js'
import type { NonResourcePaths } from './non-resource-paths.js'

export interface HealthCheck {
  readonly name: string
  /** The check is made when it is asked for by name, and does not count for the whole. */
  readonly isAlone?: true
  /** Throws the reason when the check fails. */
  check(): Promise<void> | void
}

const TEXT = 'text/plain; charset=utf-8'

/** A group of checks behind one path. */
export class HealthEndpoint {
  readonly path: string
  readonly #checks: HealthCheck[]
  readonly #recorder: Recorder

  constructor(path: string, checks: readonly HealthCheck[], recorder: Recorder = noRecorder()) {
    this.#recorder = recorder
    this.path = path
    this.#checks = [...checks]
  }

  install(paths: NonResourcePaths): void {
    paths.exact(this.path, (exchange, query) => this.#all(exchange, query), 'as-written')
    paths.below(`${this.path}/`, (exchange, _query, name) => {
      const found = this.#checks.find((check) => check.name === name)
      if (found === undefined) {
        paths.notFound(exchange)
        return undefined
      }
      return this.#one(exchange, found)
    })
  }

  async #one(exchange: Exchange, check: HealthCheck): Promise<void> {
    const reason = await this.#run(check)
    if (reason === undefined) exchange.respond({ status: 200, contentType: TEXT }, 'ok')
    else exchange.respond({ status: 500, contentType: TEXT }, `internal server error: ${reason}\n`)
  }

  async #run(check: HealthCheck): Promise<string | undefined> {
    const reason = await failure(check)
    const type = this.path.slice(1)
    const status = reason === undefined ? 'success' : 'error'
    this.#recorder.series(processFamilies.healthcheck, check.name, type).set(reason === undefined ? 1 : 0)
    this.#recorder.series(processFamilies.healthchecks, check.name, type, status).add(1)
    return reason
  }

  async #all(exchange: Exchange, query: URLSearchParams): Promise<void> {
    const excluded = new Set(query.getAll('exclude'))
    const counted = this.#checks.filter(({ isAlone }) => isAlone !== true)
    // All at once: a prober waits as long as the slowest check takes, not as long as all of them.
    const results = await Promise.all(
      counted.map(async (check) => {
        if (excluded.has(check.name)) return { line: `[+]${check.name} excluded: ok`, isFailed: false }
        const isFailed = (await this.#run(check)) !== undefined
        return { line: isFailed ? `[-]${check.name} failed: reason withheld` : `[+]${check.name} ok`, isFailed }
      }),
    )
    for (const { name } of counted) excluded.delete(name)
    const lines = results.map(({ line }) => line)
    const failed = results.some(({ isFailed }) => isFailed)
    for (const name of excluded)
      lines.push(`warn: some health checks cannot be excluded: no matches for ${JSON.stringify(name)}`)
    const name = this.path.slice(1)
    if (failed) exchange.respond({ status: 500, contentType: TEXT }, `${lines.join('\n')}\n${name} check failed\n`)
    else
      exchange.respond(
        { status: 200, contentType: TEXT },
        query.has('verbose') ? `${lines.join('\n')}\n${name} check passed\n` : 'ok',
      )
  }
}

async function failure(check: HealthCheck): Promise<string | undefined> {
  try {
    await check.check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Thread: main. Keelson as a library: a whole server in the process that calls, for tests of operators and for tools that
 * want an API of their own.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { jsonLogger } from '../lib/json-logger.js'
import { compose } from './compose.js'
import { complete } from './flags/config.js'
import { parseFlags } from './flags/flags.js'
import { FLAGS } from './flags/options.js'

export interface StartServerOptions {
  /** Where everything is kept, certificates included. Without it: in memory, gone with close(). */
  readonly dataDir?: string
  /** Without it, any free one. */
  readonly port?: number
  /** Further flags by their names, as on the command line: `{ 'service-cluster-ip-range': '10.1.0.0/16' }`. */
  readonly flags?: Readonly<Record<string, string | number | boolean | readonly string[]>>
  /** Default: warn. Logs go to standard output. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** The server cannot go on. Default: the error is thrown where nobody catches it, which ends the process. */
  readonly onFatal?: (error: Error) => void
}

export interface RunningServer {
  /** https://127.0.0.1:port */
  readonly url: string
  readonly port: number
  /** The admin's kubeconfig, as YAML: for client libraries that take text. */
  readonly kubeconfig: string
  /** The same as a file, for kubectl and KUBECONFIG. */
  readonly kubeconfigPath: string
  /** Ends watches, lets requests end, closes the storage; what was in memory is gone. Further calls do nothing. */
  close(): Promise<void>
}

/** Something is wrong with the options: all of it, a line each. */
export class InvalidOptions extends Error {
  override readonly name = 'InvalidOptions'
  readonly errors: readonly string[]

  constructor(errors: readonly string[]) {
    super(errors.join('\n'))
    this.errors = errors
  }
}

/** Starts a server on loopback; resolves when it is ready. */
export async function startServer(options: StartServerOptions = {}): Promise<RunningServer> {
  const folder = options.dataDir === undefined ? mkdtempSync(path.join(tmpdir(), 'keelson-')) : undefined
  const forget = (): void => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
  try {
    const config = configOf(options, folder)
    const server = await compose({
      config,
      logger: jsonLogger(options.logLevel ?? 'warn'),
      onFatal: options.onFatal ?? rethrow,
    })
    let closed: Promise<void> | undefined
    return {
      url: server.url,
      port: Number(new URL(server.url).port),
      kubeconfig: server.kubeconfig === '' ? '' : readFileSync(server.kubeconfig, 'utf8'),
      kubeconfigPath: server.kubeconfig,
      close: () => {
        closed ??= server.close().finally(forget)
        return closed
      },
    }
  } catch (error) {
    forget()
    throw error
  }
}

function configOf({ dataDir, port = 0, flags = {} }: StartServerOptions, folder: string | undefined) {
  const argv = [
    `--data-dir=${dataDir ?? 'memory'}`,
    `--secure-port=${port}`,
    ...(folder === undefined ? [] : [`--cert-dir=${folder}`]),
    ...Object.entries(flags).map(
      ([name, value]) => `--${name}=${Array.isArray(value) ? value.join(',') : String(value)}`,
    ),
  ]
  const { values, errors } = parseFlags(argv, FLAGS)
  const result = complete(values)
  const all = [...errors, ...('errors' in result ? result.errors : [])]
  if (all.length > 0 || 'errors' in result) throw new InvalidOptions([...new Set(all)])
  return result.config
}

/** In a turn of its own, so that nothing above can take it for its own failure. */
function rethrow(error: Error): void {
  setImmediate(() => {
    throw error
  })
}

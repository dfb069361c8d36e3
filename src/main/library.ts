/**
 * Thread: main. Keelson as a library: a whole server in the process that calls, for tests of operators and for tools that
 * want an API of their own.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { jsonLogger } from '../lib/json-logger.js'
import { compose } from './compose.js'
import { type DefinitionSource, readDefinitions } from './definition-files.js'
import { complete } from './flags/config.js'
import { parseFlags } from './flags/flags.js'
import { FLAGS } from './flags/options.js'
import { type WebhookClientConfig, type WebhookHandler, WebhookHost } from './webhook-host.js'

export type { DefinitionSource } from './definition-files.js'
export type {
  WebhookClientConfig,
  WebhookHandler,
  WebhookObject,
  WebhookRequest,
  WebhookResponse,
} from './webhook-host.js'

export interface StartServerOptions {
  /** The folder of everything, certificates included. Without it all is in memory, and gone with close(). */
  readonly dataDir?: string
  /** The port; without it, any free one. */
  readonly port?: number
  /** Further flags by their names, as on the command line: `{ 'service-cluster-ip-range': '10.1.0.0/16' }`. */
  readonly flags?: Readonly<Record<string, string | number | boolean | readonly string[]>>
  /** Default: warn. Logs go to standard output. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /**
   * Definitions of custom resources that are served when startServer() resolves: objects, YAML or JSON files, folders of such files.
   * With a dataDir they are applied again: what a file says now is what is served.
   */
  readonly crds?: readonly DefinitionSource[]
  /**
   * Webhooks that this process answers itself, by path: `{ '/label': ({ object }) => ({ allowed: true, patch: [...] }) }`. They are
   * called once a configuration or definition names them by RunningServer.webhook('/label').
   */
  readonly webhooks?: Readonly<Record<string, WebhookHandler>>
  /**
   * Called when the server cannot go on. Default: the error is thrown where nobody catches it, which ends the process.
   */
  readonly onFatal?: (error: Error) => void
}

export interface RunningServer {
  /** The address of the server: https://127.0.0.1:port. */
  readonly url: string
  readonly port: number
  /** The admin's kubeconfig, as YAML: for client libraries that take text. */
  readonly kubeconfig: string
  /** The path of the admin's kubeconfig, for kubectl and KUBECONFIG. */
  readonly kubeconfigPath: string
  /** The clientConfig of one of the options' webhooks: its URL and the authority of its certificate. */
  webhook(path: string): WebhookClientConfig
  /** Ends watches, lets requests end, closes the storage; what was in memory is gone. Further calls do nothing. */
  close(): Promise<void>
}

/** Something is wrong with the options; the message names all of it, a line each. */
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
  const host = options.webhooks === undefined ? undefined : new WebhookHost(options.webhooks)
  try {
    const { config, definitions } = configOf(options, folder)
    await host?.start()
    const server = await compose({
      config,
      logger: jsonLogger(options.logLevel ?? 'warn'),
      onFatal: options.onFatal ?? rethrow,
      definitions,
    })
    let closed: Promise<void> | undefined
    return {
      url: server.url,
      port: Number(new URL(server.url).port),
      kubeconfig: server.kubeconfig === '' ? '' : readFileSync(server.kubeconfig, 'utf8'),
      kubeconfigPath: server.kubeconfig,
      webhook: (path) => {
        if (host === undefined) throw new Error('the server was started without webhooks')
        return host.clientConfig(path)
      },
      close: () => {
        closed ??= server
          .close()
          .finally(() => host?.close())
          .finally(forget)
        return closed
      },
    }
  } catch (error) {
    await host?.close()
    forget()
    throw error
  }
}

function configOf({ dataDir, port = 0, flags = {}, crds = [] }: StartServerOptions, folder: string | undefined) {
  const argv = [
    `--data-dir=${dataDir ?? 'memory'}`,
    `--secure-port=${port}`,
    ...(folder === undefined ? [] : [`--cert-dir=${folder}`]),
    ...Object.entries(flags).map(
      ([name, value]) => `--${name}=${Array.isArray(value) ? value.join(',') : String(value)}`,
    ),
  ]
  const { values, given, errors } = parseFlags(argv, FLAGS)
  const result = complete(values, given)
  const { definitions, errors: wrong } = readDefinitions(crds)
  const all = [...errors, ...('errors' in result ? result.errors : []), ...wrong]
  if (all.length > 0 || 'errors' in result) throw new InvalidOptions([...new Set(all)])
  return { config: result.config, definitions }
}

/** Throws in a turn of its own, so that no caller takes the error for its own. */
function rethrow(error: Error): void {
  setImmediate(() => {
    throw error
  })
}

/** Thread: main. The command: from arguments to a server that runs until a signal ends it. Alone ends the process, once Node is right. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from 'pino'
import { KUBERNETES_VERSION } from '../api/catalogue.js'
import { jsonLogger } from '../lib/json-logger.js'
import { lookupTable } from '../lib/lookup-table.js'
import { compose } from './compose.js'
import { dataCommand } from './data/data-command.js'
import { compatibilityWarnings } from './flags/compatibility-options.js'
import { complete } from './flags/config.js'
import { parseCommandLine } from './flags/config-file.js'
import { describeFlags, errorLines } from './flags/flags.js'
import { foreignFlag } from './flags/foreign-flags.js'
import { FLAGS } from './flags/options.js'
import { secretsCommand } from './secrets/secrets-command.js'
import { clockProblem } from './start-checks.js'

const USAGE = `keelson: a Kubernetes-compatible API server

Usage: keelson [flags]
       keelson secrets rewrite [flags]
       keelson data check|backup|restore [flags]

${describeFlags(FLAGS)}

--help prints this, --version the version. Other flags of kube-apiserver are accepted and do nothing, or refused;
docs/flags.md says why.
`

/** Commands beside the server itself, by their first word. */
const COMMANDS: Readonly<Record<string, typeof secretsCommand>> = lookupTable({
  secrets: secretsCommand,
  data: dataCommand,
})

/** The exit code after a second signal, which waits for nobody. */
const EXIT_FORCED = 130
/** How long a start that is to be stopped may still take: some ten times what one takes on an idle machine. */
const START_GRACE_MS = 10_000

/** The version of the package, found from dist/ and from the bundle, which lies as deep. */
function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}

/** The shortest path to a file from the working directory. */
function fromHere(file: string): string {
  const relative = path.relative(process.cwd(), file)
  return relative.startsWith('..') ? file : relative
}

/**
 * Signals count from the first moment on: a server that has announced itself in etcd takes that back, however early it
 * is stopped.
 */
function stopOnSignals(starting: Promise<{ close(): Promise<void> }>, logger: Logger): void {
  let started = false
  let stopping = false
  starting.then(
    () => {
      started = true
    },
    () => undefined, // run() tells why
  )
  const stop = (): void => {
    if (stopping) process.exit(EXIT_FORCED)
    stopping = true
    // A start may wait for ever for a storage that does not answer.
    if (!started) {
      console.error(
        `keelson: stops when it has started, or in ${START_GRACE_MS / 1000} s; a second signal stops it at once`,
      )
      setTimeout(() => started || process.exit(EXIT_FORCED), START_GRACE_MS)
    }
    starting
      .then((server) => server.close())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          logger.error({ err: error }, 'closing failed')
          process.exit(1)
        },
      )
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
}

async function run(args: readonly string[]): Promise<number | undefined> {
  const command = COMMANDS[args[0] ?? '']
  if (command !== undefined)
    return command(args.slice(1), {
      out: (text) => process.stdout.write(text),
      error: (text) => process.stderr.write(text),
      onInterrupt: (listener) => process.on('SIGINT', listener).on('SIGTERM', listener),
    })
  const parsed = parseCommandLine(args, FLAGS)
  if (parsed.help) {
    process.stdout.write(USAGE)
    return 0
  }
  if (parsed.version) {
    process.stdout.write(`Keelson ${packageVersion()}, Kubernetes ${KUBERNETES_VERSION}, Node ${process.version}\n`)
    return 0
  }
  const result = complete(parsed.values, parsed.given)
  const errors = [...parsed.errors, ...('errors' in result ? result.errors : [])]
  if (errors.length > 0 || 'errors' in result) {
    for (const line of errorLines(errors)) console.error(`keelson: ${line}`)
    console.error('keelson: see --help for all flags')
    return 1
  }
  for (const name of parsed.foreign) console.error(`keelson: --${name} does nothing here: ${foreignFlag(name)?.why}`)
  for (const line of compatibilityWarnings(parsed.values)) console.error(`keelson: ${line}`)
  const { config } = result
  const clock = clockProblem(Date.now())
  if (clock !== undefined) console.error(`keelson: ${clock}`)
  const logger = jsonLogger(config.logLevel)
  const starting = compose({
    config,
    logger,
    onFatal: (error) => {
      logger.fatal({ err: error }, 'the owner thread is gone; the process ends')
      process.exit(1)
    },
  })
  stopOnSignals(starting, logger)
  const server = await starting
  const access = server.kubeconfig === '' ? `--server ${server.url}` : `--kubeconfig ${fromHere(server.kubeconfig)}`
  console.error(`Keelson serves ${server.url}\nTry: kubectl ${access} get namespaces`)
  return undefined
}

/** Does what the arguments of the command say. */
export const main = (args: readonly string[]): Promise<void> =>
  run(args).then(
    (code) => {
      if (code !== undefined) process.exit(code)
    },
    (error: unknown) => {
      console.error(`keelson: ${error instanceof Error ? error.message : String(error)}`)
      process.exit(1)
    },
  )

#!/usr/bin/env node
/** Thread: main. The process's entry: alone reads argv and env, alone exits. */
import path from 'node:path'
import { pino } from 'pino'
import { compose } from './compose.js'
import { complete } from './config.js'
import { parseCommandLine } from './config-file.js'
import { describeFlags } from './flags.js'
import { FLAGS } from './options.js'
import { secretsCommand } from './secrets/secrets-command.js'

const USAGE = `keelson: a Kubernetes-compatible API server

Usage: keelson [flags]
       keelson secrets rewrite [flags]

${describeFlags(FLAGS)}
`

/** A second signal does not wait for anybody. */
const EXIT_FORCED = 130

/** As short as it can be typed. */
function fromHere(file: string): string {
  const relative = path.relative(process.cwd(), file)
  return relative.startsWith('..') ? file : relative
}

async function main(): Promise<number | undefined> {
  if (process.argv[2] === 'secrets')
    return secretsCommand(process.argv.slice(3), {
      out: (text) => process.stdout.write(text),
      error: (text) => process.stderr.write(text),
      onInterrupt: (listener) => process.on('SIGINT', listener).on('SIGTERM', listener),
    })
  const parsed = parseCommandLine(process.argv.slice(2), FLAGS)
  if (parsed.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const result = complete(parsed.values)
  const errors = [...parsed.errors, ...('errors' in result ? result.errors : [])]
  if (errors.length > 0 || 'errors' in result) {
    for (const error of errors) console.error(`keelson: ${error}`)
    console.error('keelson: see --help for all flags')
    return 2
  }
  if (parsed.foreign.length > 0)
    console.error(`keelson: these flags mean nothing here: ${parsed.foreign.map((name) => `--${name}`).join(', ')}`)
  const { config } = result
  const logger = pino({ level: config.logLevel, base: null })
  const server = await compose({
    config,
    logger,
    onFatal: (error) => {
      logger.fatal({ err: error }, 'the owner thread is gone; the process ends')
      process.exit(1)
    },
  })
  console.error(`Keelson serves ${server.url}`)
  const access = server.kubeconfig === '' ? `--server ${server.url}` : `--kubeconfig ${fromHere(server.kubeconfig)}`
  console.error(`Try: kubectl ${access} get namespaces`)
  let stopping = false
  const stop = (): void => {
    if (stopping) process.exit(EXIT_FORCED)
    stopping = true
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'closing failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return undefined
}

main().then(
  (code) => {
    if (code !== undefined) process.exit(code)
  },
  (error: unknown) => {
    console.error(`keelson: ${error instanceof Error ? error.message : String(error)}`)
    process.exit(1)
  },
)

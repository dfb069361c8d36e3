/** Thread: main. `keelson secrets rewrite`: everything that is encrypted at rest is stored anew with the newest key. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readKubeconfig } from '../../auth/kubeconfig.js'
import type { Kubeconfig } from '../../protocol/kubeconfig.js'
import { decodeEncryptionConfiguration } from '../../storage/transformers/encryption-config.js'
import type { CommandOutput } from '../command-output.js'
import { flagBoolean, flagList, flagNumber, flagText } from '../flags/flag-values.js'
import { describeFlags, type Flag, type FlagValues, flagsOf, parseFlags } from '../flags/flags.js'
import { ApiClient } from './api-client.js'
import { rewriteTargets } from './rewrite-targets.js'
import { type RewritePlace, SecretsRewriter } from './secrets-rewriter.js'

const flag = flagsOf('secrets rewrite')
const FLAGS: readonly Flag[] = [
  flag('kubeconfig', 'string', '', 'Whom to ask, and as whom; the server writes one for its administrator.'),
  flag('server', 'string', '', 'The address of the server, instead of that of the kubeconfig.'),
  flag('token', 'string', '', 'A bearer token, instead of the credentials of the kubeconfig.'),
  flag('certificate-authority', 'string', '', 'The file of the authority that signed the server’s certificate.'),
  flag('insecure-skip-tls-verify', 'boolean', 'false', 'Whether the server’s certificate is taken unseen.'),
  flag('encryption-provider-config', 'string', '', 'The server’s file: what it names is rewritten.'),
  flag('resource', 'list', '', 'resource[.group] to rewrite instead; without both: secrets.'),
  flag('page-size', 'integer', '500', 'Objects of one list.'),
  flag('parallel', 'integer', '8', 'Writes under way at once.'),
  flag('state-file', 'string', '', 'Where a rewrite that is stopped keeps its place; it goes on from there.'),
]
const USAGE = `Usage: keelson secrets rewrite [flags]

Writes every object that is encrypted at rest back as it is, so that it is stored with the newest key.

${describeFlags(FLAGS)}
`
/** The exit code that shells have for an interrupted program. */
const STOPPED = 130

/** Gives the exit code. `argv`: what follows `secrets`. */
export async function secretsCommand(argv: readonly string[], output: CommandOutput): Promise<number> {
  const [verb, ...rest] = argv
  const { values, errors, help } = parseFlags(rest, FLAGS)
  const asksForHelp = help || verb === '--help' || verb === '-h'
  if (asksForHelp || verb === undefined) {
    output.out(USAGE)
    return asksForHelp ? 0 : 2
  }
  const problems = [...(verb === 'rewrite' ? [] : [`unknown command: secrets ${verb}`]), ...errors]
  if (flagText(values, 'server') === '' && flagText(values, 'kubeconfig') === '')
    problems.push('--kubeconfig or --server is needed')
  for (const name of ['page-size', 'parallel'])
    if (flagNumber(values, name) < 1) problems.push(`--${name} must be at least 1`)
  for (const problem of problems) output.error(`keelson: ${problem}\n`)
  return problems.length > 0 ? 2 : rewrite(values, output)
}

async function rewrite(values: FlagValues, output: CommandOutput): Promise<number> {
  const client = new ApiClient(access(values))
  const stateFile = flagText(values, 'state-file')
  let stopped = false
  try {
    const wanted = wantedResources(values)
    const targets = await rewriteTargets(client, wanted)
    if (targets.length === 0) {
      output.error(`keelson: the server serves none of ${wanted.join(', ')}\n`)
      return 1
    }
    const rewriter = new SecretsRewriter({
      client,
      targets,
      pageSize: flagNumber(values, 'page-size'),
      parallel: flagNumber(values, 'parallel'),
      place: readPlace(stateFile),
      onProgress: ({ resource, written, failed, remaining }) =>
        output.error(`${resource}: ${written} written, ${failed} failed, ${remaining} to go\n`),
      onPlace: (place) => keepPlace(stateFile, place),
      onFailure: (object, why) => output.error(`${object}: ${why}\n`),
    })
    output.onInterrupt(() => {
      stopped = true
      rewriter.stop()
    })
    const complete = await rewriter.run()
    if (complete && stateFile !== '') rmSync(stateFile, { force: true })
    if (complete)
      output.error(`Everything is stored with the newest key: ${targets.map(({ name }) => name).join(', ')}\n`)
    return complete ? 0 : stopped ? STOPPED : 1
  } finally {
    client.close()
  }
}

function access(values: FlagValues): Kubeconfig {
  const file = flagText(values, 'kubeconfig')
  const base: Kubeconfig =
    file === ''
      ? {
          server: '',
          serverName: undefined,
          insecureSkipVerify: false,
          ca: undefined,
          clientCertificate: undefined,
          clientKey: undefined,
          token: undefined,
          basic: undefined,
        }
      : readKubeconfig(file)
  const ca = flagText(values, 'certificate-authority')
  const token = flagText(values, 'token')
  return {
    ...base,
    server: flagText(values, 'server') || base.server,
    insecureSkipVerify: base.insecureSkipVerify || flagBoolean(values, 'insecure-skip-tls-verify'),
    ...(ca === '' ? {} : { ca: readFileSync(ca, 'utf8') }),
    ...(token === '' ? {} : { token }),
  }
}

function wantedResources(values: FlagValues): string[] {
  const named = flagList(values, 'resource')
  if (named.length > 0) return named
  const file = flagText(values, 'encryption-provider-config')
  if (file === '') return ['secrets']
  const { resources } = decodeEncryptionConfiguration(readFileSync(file, 'utf8'))
  return [...new Set(resources.flatMap((rule) => rule.resources))]
}

function readPlace(file: string): RewritePlace | undefined {
  return file !== '' && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RewritePlace) : undefined
}

function keepPlace(file: string, place: RewritePlace): void {
  if (file === '') return
  writeFileSync(`${file}.part`, JSON.stringify(place), { mode: 0o600 })
  renameSync(`${file}.part`, file)
}

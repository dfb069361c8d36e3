/** Thread: main. `keelson data check`, `backup` and `restore`: flags in, one task for the data thread, its words out. */
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { lookupTable } from '../../lib/lookup-table.js'
import { moduleUrl } from '../../lib/module-url.js'
import type { DataEvent, DataPlace, DataTask } from '../../protocol/main-data.js'
import type { CommandOutput } from '../command-output.js'
import { flagBoolean, flagList, flagNumber, flagText } from '../flags/flag-values.js'
import { describeFlags, type Flag, type FlagValues, flagsOf, parseFlags } from '../flags/flags.js'
import { ProgressLines } from './progress-lines.js'

/** As etcd's own documents advise for Kubernetes: more than is ever written between a backup and the loss of its store. */
const BUMP_REVISION = '1000000000'
const FORMATS = ['1', '2']

const store = flagsOf('Where the data is')
const STORE_FLAGS: readonly Flag[] = [
  store('data-dir', 'string', './data', 'The folder of the embedded engine.'),
  store('etcd-servers', 'list', '', 'Addresses of etcd, with scheme, instead of a folder.'),
  store('etcd-prefix', 'string', '/registry', 'Of etcd only the keys below this.'),
  store('etcd-cafile', 'string', '', 'The authority that signed etcd’s certificate.'),
  store('etcd-certfile', 'string', '', 'The client certificate for etcd.'),
  store('etcd-keyfile', 'string', '', 'The key of the client certificate for etcd.'),
]

const check = flagsOf('data check')
const backup = flagsOf('data backup')
const restore = flagsOf('data restore')
const FILE_HELP = 'The file of the backup.'

interface Verb {
  readonly flags: readonly Flag[]
  readonly about: string
  /** The task, or what is wrong with the flags. */
  task(values: FlagValues, given: FlagValues, problems: string[]): DataTask
}

const VERBS: Readonly<Record<string, Verb>> = lookupTable<Verb>({
  check: {
    flags: [...STORE_FLAGS.slice(0, 1), check('file', 'string', '', 'A backup to check instead of a folder.')],
    about: `Reads everything in the folder of the embedded engine, or in a backup, and says what is damaged. Only reads; the server may
run meanwhile. Exit code 0: sound, 1: damaged or unreadable, 2: wrong flags.`,
    task: (values) => {
      const file = flagText(values, 'file')
      return file === '' ? { type: 'check', dataDir: folderOf(values) } : { type: 'check-backup', file }
    },
  },
  backup: {
    flags: [
      ...STORE_FLAGS,
      backup('file', 'string', '', `${FILE_HELP} It must not be there yet.`),
      backup(
        'skip-damaged',
        'boolean',
        'false',
        'Whether what is damaged is left out; without it damage ends the backup.',
      ),
    ],
    about: `Writes every key and value of one moment into a file; the server may run meanwhile. The file has its name once it is whole
and on the disk. Values are as they are stored: encrypted where they are, in plain text where not.`,
    task: (values, given, problems) => ({
      type: 'backup',
      source: placeOf(values, given, problems),
      file: fileOf(values, problems),
      skipDamaged: flagBoolean(values, 'skip-damaged'),
    }),
  },
  restore: {
    flags: [
      ...STORE_FLAGS,
      restore('file', 'string', '', FILE_HELP),
      restore(
        'bump-revision',
        'integer',
        BUMP_REVISION,
        'By how much the embedded store begins after the backup’s revision, so that clients which saw later ones start over.',
      ),
      restore('format', 'integer', FORMATS.at(-1)!, 'The format version of the folder; 1 for Keelson 0.1.0.'),
      restore('resume', 'boolean', 'false', 'Whether a restore into etcd that was cut short goes on.'),
    ],
    about: `Makes a store of a backup: a folder of the embedded engine, which must be empty, or keys in an etcd that has none below the
prefix. Nothing is written over. In a folder, objects keep their resourceVersion; etcd gives new ones. No server may run on it yet.`,
    task: (values, given, problems) => {
      if (!FORMATS.includes(flagText(values, 'format'))) problems.push(`--format must be one of ${FORMATS.join(', ')}`)
      return {
        type: 'restore',
        file: fileOf(values, problems),
        target: placeOf(values, given, problems),
        bumpRevision: flagNumber(values, 'bump-revision'),
        format: flagNumber(values, 'format'),
        resume: flagBoolean(values, 'resume'),
      }
    },
  },
})

const USAGE = `Usage: keelson data check   [flags]
       keelson data backup  --file FILE [flags]
       keelson data restore --file FILE [flags]

keelson data VERB --help tells more.
`

/** The exit code that shells have for an interrupted program. */
const STOPPED = 130

/** Gives the exit code. `argv`: what follows `data`. */
export async function dataCommand(argv: readonly string[], output: CommandOutput): Promise<number> {
  const [name = '', ...rest] = argv
  const verb = VERBS[name]
  if (verb === undefined) {
    const isHelp = name === '--help' || name === '-h'
    if (!isHelp && name !== '') output.error(`keelson: unknown command: data ${name}\n`)
    output.out(USAGE)
    return isHelp ? 0 : 2
  }
  const { values, given, errors, help } = parseFlags(rest, verb.flags)
  if (help) {
    output.out(`Usage: keelson data ${name} [flags]\n\n${verb.about}\n\n${describeFlags(verb.flags)}\n`)
    return 0
  }
  const problems = [...errors]
  const task = verb.task(values, given, problems)
  for (const problem of problems) output.error(`keelson: ${problem}\n`)
  return problems.length > 0 ? 2 : carryOut(task, output)
}

const folderOf = (values: FlagValues): string => path.resolve(flagText(values, 'data-dir'))

function fileOf(values: FlagValues, problems: string[]): string {
  const file = flagText(values, 'file')
  if (file === '') problems.push('--file is needed')
  return file
}

function placeOf(values: FlagValues, given: FlagValues, problems: string[]): DataPlace {
  const servers = flagList(values, 'etcd-servers')
  if (servers.length === 0) return { type: 'embedded', dataDir: folderOf(values) }
  if (given.has('data-dir')) problems.push('--data-dir and --etcd-servers exclude one another')
  for (const server of servers)
    if (!/^https?:\/\/./.test(server)) problems.push(`--etcd-servers: ${server} must start with http:// or https://`)
  return {
    type: 'etcd',
    transport: {
      servers,
      trustedCaFile: flagText(values, 'etcd-cafile'),
      certFile: flagText(values, 'etcd-certfile'),
      keyFile: flagText(values, 'etcd-keyfile'),
    },
    prefix: ['', ...flagText(values, 'etcd-prefix').split('/').filter(Boolean), ''].join('/'),
  }
}

function carryOut(task: DataTask, output: CommandOutput): Promise<number> {
  const progress = new ProgressLines(output.error)
  const worker = new Worker(moduleUrl('workers/data-thread.js'), { workerData: task, execArgv: [] })
  return new Promise((resolve, reject) => {
    let code: number | undefined
    // What was made so far lies under a temporary name, and is removed or replaced by the next run.
    output.onInterrupt(() => {
      code = STOPPED
      void worker.terminate()
    })
    worker.on('message', (event: DataEvent) => {
      if (event.type === 'progress') progress.tell(event)
      else if (event.type === 'problem') output.error(`keelson: ${event.problem}\n`)
      else if (event.type === 'failed') {
        output.error(`keelson: ${event.message}\n`)
        code ??= 1
      } else {
        output.out(`${event.summary}\n`)
        code ??= event.sound ? 0 : 1
      }
    })
    worker.on('error', reject)
    worker.on('exit', () => resolve(code ?? 1))
  })
}

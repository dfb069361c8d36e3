/**
 * Question: what does a write cost each thread of the server, and how many are there in a second? Workload: ConfigMaps of 1 KB and
 * pods of 4 KB created, pods updated, applied and their status patched, over TLS; each kind as long without being
 * counted before. Several trees (checkouts with a bundle) are measured in turns in one run: figures of two runs cannot be compared.
 * Run: `npm run bench:writes -- --trees .,/tmp/before --storage embedded,etcd --only configmap,pod`. Wants wrk.
 */
import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { benchFolder, benchOptions } from '../command-line.js'
import { commitsOf, describeCommits } from '../load/commits.js'
import { type StartedKeelson, startEtcd, startKeelson, stop } from '../suite/servers.js'
import { filledIn, KINDS, OBJECTS, type WriteKind } from './kinds.js'
import { ThreadTimes } from './thread-times.js'

const values = benchOptions('bench:writes', {
  trees: { about: 'checkouts with a bundle, measured in turns', preset: '.' },
  storage: { about: 'list', preset: 'embedded', words: ['embedded', 'etcd'] },
  only: { about: 'kinds of writes', preset: Object.keys(KINDS).join(','), words: Object.keys(KINDS) },
  seconds: { about: 'of each kind', preset: '3' },
  warm: {
    about: 'seconds of each kind that are not counted, before; as many as counted ones when not given',
    preset: '',
  },
  connections: { about: 'of wrk', preset: '32' },
  rounds: { about: 'of everything', preset: '1' },
  flags: { about: 'further flags of the server', preset: '' },
  stages: { about: 'prints also how long writes are in each stage', preset: '', isSwitch: true },
})
const SECONDS = Number(values.seconds)
const WARM_SECONDS = values.warm === '' ? SECONDS : Number(values.warm)
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'

async function request(server: StartedKeelson, method: string, target: string, body?: string): Promise<string> {
  const answer = await fetch(`${server.url}${target}`, {
    method,
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${target}: ${answer.status} ${text.slice(0, 300)}`)
  return text
}

const metricsOf = (server: StartedKeelson): Promise<string> => request(server, 'GET', '/metrics')

interface Answered {
  readonly total: number
  readonly perSecond: number
  readonly meanMs: number
  readonly p99: string
}

/** wrk with a script that numbers the requests; every answer must be a success. */
async function load(server: StartedKeelson, kind: WriteKind, seconds: number, folder: string): Promise<Answered> {
  const script = path.join(folder, 'write.lua')
  const lua = (text: string): string => JSON.stringify(text).replaceAll('%', '\\37')
  writeFileSync(
    script,
    `local path, body = ${lua(kind.path)}, ${lua(kind.body)}
local headers = { ["Content-Type"] = "${kind.contentType}", ["Authorization"] = "Bearer ${server.token}" }
local n = os.time() * 1000
request = function()
  n = n + 1
  local object = tostring(n % ${OBJECTS})
  return wrk.format("${kind.method}", (path:gsub("@o@", object)), headers, (body:gsub("@o@", object):gsub("@n@", tostring(n))))
end
`,
  )
  const { stdout } = await promisify(execFile)('wrk', [
    ...['-t', '1', '-c', values.connections, '-d', `${seconds}s`, '--latency', '--timeout', '60s', '-s', script],
    server.url,
  ])
  const number = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1] ?? 0)
  const failed = number(/Non-2xx or 3xx responses: (\d+)/)
  if (failed > 0) throw new Error(`${failed} writes failed (${kind.name})`)
  const perSecond = number(/Requests\/sec:\s+([\d.]+)/)
  return {
    total: number(/(\d+) requests in/),
    perSecond,
    meanMs: (Number(values.connections) / perSecond) * 1000,
    p99: / 99%\s+(\S+)/.exec(stdout)?.[1] ?? '',
  }
}

async function prepare(server: StartedKeelson, { prepared }: WriteKind): Promise<void> {
  if (prepared === undefined) return
  for (let from = 0; from < OBJECTS; from += 32)
    await Promise.all(
      Array.from({ length: 32 }, (_, i) =>
        request(server, 'POST', prepared.path, filledIn(prepared.body, from + i, 0)),
      ),
    )
}

function report(kind: WriteKind, label: string, answered: Answered, used: ReadonlyMap<string, number>): void {
  const each = ([thread, us]: [string, number]): string => `${thread} ${(us / answered.total).toFixed(0).padStart(4)}`
  const all = [...used.values()].reduce((sum, us) => sum + us, 0)
  const threads = [['all', all] as [string, number], ...[...used].sort()].map(each).join('  ')
  const rate = `${answered.perSecond.toFixed(0).padStart(6)}/s ${answered.meanMs.toFixed(2).padStart(6)} ms p99 ${answered.p99.padEnd(8)}`
  console.log(`${kind.name.padEnd(26)}${label.padEnd(24)}${rate} µs: ${threads}`)
}

async function measure(tree: string, storage: string): Promise<void> {
  const folder = benchFolder('writes')
  const etcd = storage === 'etcd' ? await startEtcd(path.join(folder, 'etcd')) : undefined
  const flags = [
    ...(etcd === undefined ? [`--data-dir=${path.join(folder, 'data')}`] : [`--etcd-servers=${etcd.endpoint}`]),
    ...values.flags.split(' ').filter((flag) => flag !== ''),
  ]
  const server = await startKeelson(folder, flags, tree)
  let times: ThreadTimes | undefined
  try {
    for (const name of values.only.split(',')) {
      const kind = KINDS[name]
      if (kind === undefined) throw new Error(`there is no kind of write called ${name}`)
      await prepare(server, kind)
      await load(server, kind, WARM_SECONDS, folder)
      times ??= await ThreadTimes.of(server.process.pid!, () => metricsOf(server))
      const commits = commitsOf(await metricsOf(server))
      const before = times.read()
      const answered = await load(server, kind, SECONDS, folder)
      const used = [...times.read()].map(([thread, us]) => [thread, us - (before.get(thread) ?? 0)] as const)
      report(kind, `${tree} ${storage}`, answered, new Map(used))
      const committed = describeCommits(commits, commitsOf(await metricsOf(server)), SECONDS)
      if (committed !== '') console.log(`${''.padEnd(50)}${committed}`)
      if (values.stages === '') continue
      const looked = request(server, 'GET', '/debug/pprof/writes?seconds=2')
      await load(server, kind, 3, folder)
      console.log(await looked)
    }
  } finally {
    await stop(server.process)
    await stop(etcd?.process)
    rmSync(folder, { recursive: true, force: true })
  }
}

console.log(`${cpus().length} cores of ${cpus()[0]?.model}, Node ${process.version}, ${values.connections} connections`)
for (let round = 0; round < Number(values.rounds); round++)
  for (const storage of values.storage.split(','))
    for (const tree of values.trees.split(',')) await measure(tree, storage)

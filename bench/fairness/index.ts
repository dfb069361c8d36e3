/**
 * Question: what does one greedy user do to a quiet one? Workload: 1,000 objects of 4 KB; the quiet user gets one of them
 * again and again, a hundred times a second, over one connection: first alone, then while the greedy user lists all of
 * them on 500 connections without pause, in a process of its own. Both are ordinary users of one priority level.
 * Run: `npm run bench:fairness`. Arguments: `--connections 500 --seconds 10 --flags "--front-ends=2"`.
 */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { benchFolder, benchOptions } from '../command-line.js'
import { HttpConnection } from './http-connection.js'

const values = benchOptions('bench:fairness', {
  connections: { about: 'of the greedy user', preset: '500' },
  seconds: { about: 'of each measurement', preset: '10' },
  objects: { about: 'how many are there', preset: '1000' },
  flags: { about: 'further flags of the server', preset: '' },
})
const OBJECTS = Number(values.objects)
const LISTS = '/api/v1/namespaces/default/configmaps'
const PAUSE_MS = 10

const folder = benchFolder('fairness')
const tokens = path.join(folder, 'tokens.csv')
writeFileSync(tokens, 'admin,admin,admin,"system:masters"\nquiet,quiet,quiet,"bench"\ngreedy,greedy,greedy,"bench"\n')
const server = spawn(
  process.execPath,
  [
    'dist/main/index.js',
    ...['--secure-port=0', '--data-dir', path.join(folder, 'data'), '--token-auth-file', tokens],
    ...values.flags.split(' ').filter((flag) => flag !== ''),
  ],
  { stdio: ['ignore', 'ignore', 'pipe'] },
)

function serverUrl(): Promise<string> {
  let said = ''
  return new Promise((resolve, reject) => {
    server.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const match = /serves (http\S+)/.exec(said)
      if (match !== null) resolve(match[1]!)
    })
    server.once('exit', (code) => reject(new Error(`the server ended with code ${code}: ${said}`)))
  })
}

async function fill(url: string): Promise<void> {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  const post = async (at: string, object: object): Promise<void> => {
    const headers = { authorization: 'Bearer admin', 'content-type': 'application/json' }
    const answer = await fetch(`${url}${at}`, { method: 'POST', headers, body: JSON.stringify(object) })
    await answer.text()
    if (answer.status !== 201) throw new Error(`${at}: ${answer.status}`)
  }
  await post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'bench' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'bench' }],
  })
  for (let from = 0; from < OBJECTS; from += 50)
    await Promise.all(
      Array.from({ length: Math.min(50, OBJECTS - from) }, (_, i) =>
        post(LISTS, { metadata: { name: `object-${from + i}` }, data: { text: 'x'.repeat(3800) } }),
      ),
    )
}

/** Latencies in milliseconds, sorted; every answer must be what was asked for. */
async function quiet(url: string, seconds: number): Promise<number[]> {
  const connection = new HttpConnection(url, `${LISTS}/object-7`, 'quiet')
  const times: number[] = []
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    const start = performance.now()
    const { status, cut } = await connection.get()
    if (status !== 200 || cut) throw new Error(`the quiet user got ${status}${cut ? ', cut off' : ''}`)
    times.push(performance.now() - start)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  connection.close()
  return times.sort((a, b) => a - b)
}

const at = (times: readonly number[], part: number): number => times[Math.floor((times.length - 1) * part)]!
const row = (name: string, times: readonly number[]): string =>
  `${name.padEnd(22)} ${[0.5, 0.9, 0.99, 1].map((part) => at(times, part).toFixed(2).padStart(8)).join(' ')}  ms (p50 p90 p99 max), ${times.length} requests`

let failed = false
try {
  const url = await serverUrl()
  await fill(url)
  const seconds = Number(values.seconds)
  await quiet(url, 2)
  const idle = await quiet(url, seconds)
  const greedy = fork(fileURLToPath(new URL('greedy.js', import.meta.url)), [url, LISTS, 'greedy', values.connections])
  await once(greedy, 'message')
  await quiet(url, 2)
  const busy = await quiet(url, seconds)
  greedy.send('stop')
  const [counts] = (await once(greedy, 'message')) as [Record<string, number>]
  const ratio = at(busy, 0.99) / at(idle, 0.99)
  console.log(
    `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${url.split(':')[0]}`,
  )
  console.log(row('quiet user, alone', idle))
  console.log(row('beside the greedy one', busy))
  console.log(
    `p99: ${ratio.toFixed(1)} times its value alone; the greedy user: ${counts['lists']} lists of ` +
      `${((counts['bytes'] ?? 0) / Math.max(1, counts['lists'] ?? 0) / 1e6).toFixed(1)} MB, ${counts['refused']} refused, ` +
      `${counts['other']} other answers, ${counts['cut']} cut off`,
  )
  failed = ratio > 5 || counts['cut'] !== 0 || counts['other'] !== 0
} finally {
  server.kill()
  await once(server, 'exit')
  rmSync(folder, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)

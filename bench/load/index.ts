/**
 * Question: how much of what the machine can do over TLS is left to clients? Workload: 1,000 pods of 4 KB; GET of one,
 * consistent and with resourceVersion=0, LIST of all, watch fan-out to 200 and 1,000, creation of 1 KB ConfigMaps; each
 * beside uWebSockets.js alone sending the same bytes, one right after the other. Ratios by rate and by processor time: the
 * load generator runs on the same cores, so that a rate alone says little on a small machine.
 * Run: `npm run bench:load`. Arguments: `--seconds 5 --only get,list --flags=--front-ends=2`.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { announcedUrl } from '../announced-url.js'
import { benchFolder, benchOptions } from '../command-line.js'
import { commitsOf, describeCommits } from './commits.js'
import { generate, hasWrk, type Measured } from './generator.js'
import { Watchers } from './watchers.js'

const values = benchOptions('bench:load', {
  seconds: { about: 'of each measurement', preset: '5' },
  pods: { about: 'how many are there', preset: '1000' },
  only: { about: 'workloads, by their names', preset: '' },
  flags: { about: 'further flags of the server', preset: '' },
})
const SECONDS = Number(values.seconds)
const PODS = '/api/v1/namespaces/default/pods'
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const EVENTS_EACH_SECOND = 50
const TICKS_PER_SECOND = 100
const TOKEN = 'admin'
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'

const folder = benchFolder('load')
const dataDir = path.join(folder, 'data')
const tokens = path.join(folder, 'tokens.csv')
writeFileSync(tokens, `${TOKEN},admin,admin,"system:masters"\n`)

async function startKeelson(): Promise<{ server: ChildProcess; url: string }> {
  const flags = [
    ...['--secure-port=0', '--data-dir', dataDir, '--token-auth-file', tokens, '--log-level=error'],
    ...['--disable-admission-plugins=ServiceAccount', ...values.flags.split(' ').filter((flag) => flag !== '')],
  ]
  const server = spawn(process.execPath, ['bundle/main/index.js', ...flags], { stdio: ['ignore', 'ignore', 'pipe'] })
  const url = await announcedUrl(server)
  return { server, url }
}

async function startBare(bodies: object): Promise<{ server: ChildProcess; url: string }> {
  const certs = path.join(dataDir, 'certs')
  const file = (name: RegExp): string => path.join(certs, readdirSync(certs).find((entry) => name.test(entry)) ?? '')
  const script = fileURLToPath(new URL('./bare-server.js', import.meta.url))
  const server = fork(script, [file(/^apiserver\.crt$/), file(/^apiserver\.key$/)], { serialization: 'advanced' })
  server.send(bodies)
  const [port] = (await once(server, 'message')) as [number]
  return { server, url: `https://127.0.0.1:${port}` }
}

const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
async function request(url: string, method: string, body?: object, contentType = 'application/json'): Promise<Buffer> {
  const answer = await fetch(url, {
    method,
    headers: { ...headers, 'content-type': contentType, 'accept-encoding': 'identity' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${bytes.toString().slice(0, 300)}`)
  return bytes
}

const pod = (i: number): object => ({
  metadata: { name: `pod-${i}`, annotations: { padding: 'x'.repeat(2600) } },
  spec: { containers: [{ name: 'main', image: 'registry.example.com/app:1' }] },
})

/** Seconds of processor time that a process has used. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

interface Figure {
  readonly perSecond: number
  /** Of the server, for one. */
  readonly microseconds: number
}

async function timed(server: ChildProcess, work: () => Promise<Measured>): Promise<Figure> {
  const before = processorSeconds(server.pid!)
  const { perSecond, total, failed } = await work()
  if (failed > 0) throw new Error(`${failed} of ${total} requests failed`)
  return { perSecond, microseconds: ((processorSeconds(server.pid!) - before) / Math.max(1, total)) * 1e6 }
}

function print(name: string, ours: Figure, bare: Figure): void {
  const percent = (part: number): string => `${Math.round(part * 100)} %`.padStart(6)
  const show = ({ perSecond, microseconds }: Figure): string =>
    `${Math.round(perSecond).toString().padStart(9)}/s ${microseconds.toFixed(1).padStart(9)} µs`
  console.log(
    `${name.padEnd(24)}${show(ours)}   bare ${show(bare)}   rate ${percent(ours.perSecond / bare.perSecond)}   processor ${percent(bare.microseconds / ours.microseconds)}`,
  )
}

type Server = Awaited<ReturnType<typeof startKeelson>>

async function requests(
  name: string,
  keelson: Server,
  bare: Server,
  paths: [string, string],
  connections: number,
  body?: string,
): Promise<void> {
  const load = { seconds: SECONDS, connections, token: TOKEN, ...(body === undefined ? {} : { body }) }
  const figures: Figure[] = []
  for (const [{ server, url }, target] of [
    [keelson, paths[0]],
    [bare, paths[1]],
  ] as const)
    figures.push(await timed(server, () => generate({ ...load, url: `${url}${target}` }, folder)))
  print(name, figures[0]!, figures[1]!)
}

/** Prints also what the embedded engine committed meanwhile; the bare server's half of the time does not count. */
async function withCommits(keelson: Server, work: () => Promise<void>): Promise<void> {
  const look = async () => commitsOf((await request(`${keelson.url}/metrics`, 'GET')).toString())
  const before = await look()
  await work()
  const said = describeCommits(before, await look(), SECONDS)
  if (said !== '') console.log(`${''.padEnd(24)}${said}`)
}

async function fanOut(keelson: Server, bare: Server, count: number): Promise<void> {
  const measure = async ({ server, url }: Server, target: string, write?: () => Promise<void>): Promise<Figure> => {
    const watchers = new Watchers()
    await watchers.open(url, target, TOKEN, count)
    const figure = await timed(server, async () => {
      const [before, start] = [watchers.events, performance.now()]
      const end = start + SECONDS * 1000
      while (performance.now() < end) await (write === undefined ? delay(100) : write())
      const total = watchers.events - before
      return { perSecond: (total * 1000) / (performance.now() - start), total, failed: 0, p99Ms: 0 }
    })
    watchers.close()
    return figure
  }
  let n = 0
  const write = async (): Promise<void> => {
    const changes = Array.from({ length: 8 }, (_, i) =>
      request(
        `${keelson.url}${PODS}/pod-${i}`,
        'PATCH',
        { metadata: { labels: { n: String(n++) } } },
        'application/merge-patch+json',
      ),
    )
    await Promise.all(changes)
  }
  print(`watch, ${count} watchers`, await measure(keelson, `${PODS}?watch=1`, write), await measure(bare, '/watch'))
}

const keelson = await startKeelson()
try {
  for (let from = 0; from < Number(values.pods); from += 50)
    await Promise.all(Array.from({ length: 50 }, (_, i) => request(`${keelson.url}${PODS}`, 'POST', pod(from + i))))
  const object = await request(`${keelson.url}${PODS}/pod-7`, 'GET')
  const list = await request(`${keelson.url}${PODS}`, 'GET')
  const configMap = { metadata: { generateName: 'bench-' }, data: { text: 'x'.repeat(900) } }
  const created = await request(`${keelson.url}${CONFIGMAPS}`, 'POST', configMap)
  const event = Buffer.concat([Buffer.from('{"type":"MODIFIED","object":'), object.subarray(0, -1), Buffer.from('}\n')])
  const bare = await startBare({ object, list, created, event, eventsEachSecond: EVENTS_EACH_SECOND })
  console.log(
    `${cpus().length} cores of ${cpus()[0]?.model}, Node ${process.version}, ${hasWrk ? 'wrk' : 'autocannon'}, ${SECONDS} s each, one object ${object.byteLength} bytes, the list ${list.byteLength}`,
  )
  try {
    const chosen = values.only === '' ? undefined : new Set(values.only.split(','))
    const wanted = (name: string): boolean => chosen === undefined || chosen.has(name)
    if (wanted('get')) {
      await requests('GET, consistent', keelson, bare, [`${PODS}/pod-7`, '/object'], 64)
      await requests('GET, resourceVersion=0', keelson, bare, [`${PODS}/pod-7?resourceVersion=0`, '/object'], 64)
    }
    if (wanted('list')) await requests('LIST', keelson, bare, [PODS, '/list'], 8)
    if (wanted('watch')) for (const count of [200, 1000]) await fanOut(keelson, bare, count)
    if (wanted('create'))
      await withCommits(keelson, () =>
        requests('create', keelson, bare, [CONFIGMAPS, '/create'], 32, JSON.stringify(configMap)),
      )
  } finally {
    bare.server.kill('SIGKILL')
  }
} finally {
  keelson.server.kill('SIGKILL')
  await once(keelson.server, 'exit')
  rmSync(folder, { recursive: true, force: true })
}

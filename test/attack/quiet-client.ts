/**
 * A process of its own: a client that lives beside the attackers. It writes, reads, lists and watches its own objects,
 * checks every answer, and measures how long each took beside a plain timer, which tells a busy machine from a server that
 * hangs. Arguments: port of the server, its process id. Ends on a message, with its report.
 */
import { Agent, get, request } from 'node:https'
import { MachineDelay } from './machine-delay.js'
import type { QuietReport, Stall } from './quiet-process.js'

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string }
  readonly data?: { readonly n?: string }
}

const [port = 0, serverPid = 0] = process.argv.slice(2).map(Number)
const COLLECTION = '/api/v1/namespaces/quiet/configmaps'
const HEADERS = { authorization: 'Bearer quiet', 'content-type': 'application/json' }
const LIVE_OBJECTS = 12
const PAUSE_MS = 3
const WARM_TURNS = 60
const STALL_MS = 1000
const KEPT = 20
/** How long the last events may take after the last write. */
const EVENTS_DEADLINE_MS = 30_000

const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 2 })
const machine = new MachineDelay(serverPid)
const latencies: number[] = []
const stalls: Stall[] = []
const wrongs: string[] = []
/** What was written and acknowledged and not yet seen by the watch: in the order of revisions. */
const awaited: { readonly key: string; readonly atMs: number }[] = []
const eventLatencies: number[] = []
const live = new Map<string, ConfigMap>()
let made = 0
let wrongCount = 0
let watches = 0
let refusals = 0
let lastSeen = ''
let stopping = false
/** An event may overtake the answer of the write it tells of. */
const early: string[] = []

function wrong(text: string): void {
  wrongCount++
  if (wrongs.length < KEPT) wrongs.push(text)
}

function call(method: string, target: string, body?: object): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method, path: target, agent, headers: HEADERS }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** Measured; one that was refused for too many requests is made again, as clients do. */
async function ask(method: string, target: string, expected: number, body?: object): Promise<unknown> {
  for (;;) {
    const window = machine.open()
    const started = performance.now()
    const { status, text } = await call(method, target, body)
    const tookMs = performance.now() - started
    latencies.push(tookMs)
    if (tookMs > STALL_MS) stalls.push({ what: `${method} ${target}`, tookMs, ...machine.close(window) })
    else machine.close(window)
    if (status === 429) {
      refusals++
      await new Promise((resolve) => setTimeout(resolve, 100))
      continue
    }
    if (status !== expected) wrong(`${method} ${target}: ${status} instead of ${expected}: ${text.slice(0, 300)}`)
    return status === expected && text !== '' ? (JSON.parse(text) as unknown) : undefined
  }
}

const keyOf = (type: string, { metadata: { name, resourceVersion } }: ConfigMap): string =>
  `${type} ${name} ${resourceVersion}`

function expectEvent(type: string, object: ConfigMap): void {
  const key = keyOf(type, object)
  if (early.length === 0) {
    awaited.push({ key, atMs: performance.now() })
    return
  }
  const came = early.shift()
  eventLatencies.push(0)
  if (came !== key) wrong(`the watch saw ${came} where ${key} was written`)
}

function sawEvent(type: string, object: ConfigMap): void {
  lastSeen = object.metadata.resourceVersion
  if (type === 'BOOKMARK') return
  const key = keyOf(type, object)
  const next = awaited.shift()
  if (next === undefined) {
    early.push(key)
    if (early.length > 1) wrong(`the watch saw ${early.join(', ')} and no more than one write is under way`)
    return
  }
  eventLatencies.push(performance.now() - next.atMs)
  const isNext = next.key === key || (type === 'DELETED' && key.startsWith(`${next.key} `))
  if (!isNext) wrong(`the watch saw ${key} where ${next.key} was next`)
}

/** Follows from a revision on; whenever the server ends it, again from where it was. */
function follow(revision: string): void {
  watches++
  lastSeen = revision
  const target = `${COLLECTION}?watch=1&allowWatchBookmarks=true&resourceVersion=${revision}`
  const again = (): void => {
    if (!stopping) setTimeout(() => follow(lastSeen), 20)
  }
  const watch = get({
    host: '127.0.0.1',
    port,
    path: target,
    rejectUnauthorized: false,
    headers: HEADERS,
    agent: false,
  })
  watch.on('error', again)
  watch.on('response', (response) => {
    if (response.statusCode !== 200 && response.statusCode !== 429) wrong(`the watch got ${response.statusCode}`)
    let rest = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      if (response.statusCode !== 200) return
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as { type: string; object: ConfigMap }
        if (type === 'ERROR') wrong(`the watch from ${revision} ended with ${line.slice(0, 300)}`)
        else sawEvent(type, object)
      }
    })
    response.on('error', () => undefined)
    response.on('close', again)
  })
}

async function create(): Promise<void> {
  const name = `q-${made++}`
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { quiet: 'yes' } }, data: { n: '0' } }
  const created = (await ask('POST', COLLECTION, 201, body)) as ConfigMap | undefined
  if (created === undefined) return
  live.set(name, created)
  expectEvent('ADDED', created)
  await read(name)
}

async function read(name: string): Promise<void> {
  const known = live.get(name)!
  const found = (await ask('GET', `${COLLECTION}/${name}`, 200)) as ConfigMap | undefined
  if (found === undefined) return
  const same =
    found.metadata.uid === known.metadata.uid &&
    found.metadata.resourceVersion === known.metadata.resourceVersion &&
    found.data?.n === known.data?.n
  if (!same) wrong(`${name} reads as ${JSON.stringify(found)} and was written as ${JSON.stringify(known)}`)
}

async function update(name: string): Promise<void> {
  const known = live.get(name)!
  const body = { ...known, data: { n: String(Number(known.data?.n) + 1) } }
  const updated = (await ask('PUT', `${COLLECTION}/${name}`, 200, body)) as ConfigMap | undefined
  if (updated === undefined) return
  if (Number(updated.metadata.resourceVersion) <= Number(known.metadata.resourceVersion))
    wrong(`${name} went from ${known.metadata.resourceVersion} to ${updated.metadata.resourceVersion}`)
  live.set(name, updated)
  expectEvent('MODIFIED', updated)
  await read(name)
}

async function remove(name: string): Promise<void> {
  const gone = (await ask('DELETE', `${COLLECTION}/${name}`, 200)) as { metadata?: object } | undefined
  if (gone === undefined) return
  live.delete(name)
  // The answer of a deletion does not tell its revision; the event does.
  awaitDeletion(name)
  await ask('GET', `${COLLECTION}/${name}`, 404)
}

function awaitDeletion(name: string): void {
  const came = early[0]
  if (came?.startsWith(`DELETED ${name} `) === true) {
    early.shift()
    eventLatencies.push(0)
  } else awaited.push({ key: `DELETED ${name}`, atMs: performance.now() })
}

async function list(): Promise<void> {
  const seen: ConfigMap[] = []
  const limit = made % 3 === 0 ? 5 : 500
  for (let token = ''; ; ) {
    const more = token === '' ? '' : `&continue=${token}`
    const page = (await ask('GET', `${COLLECTION}?labelSelector=quiet%3Dyes&limit=${limit}${more}`, 200)) as
      | { metadata: { continue?: string }; items: ConfigMap[] }
      | undefined
    if (page === undefined) return
    seen.push(...page.items)
    token = page.metadata.continue ?? ''
    if (token === '') break
  }
  const text = (objects: Iterable<ConfigMap>): string =>
    [...objects]
      .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
      .sort()
      .join(' ')
  if (text(seen) !== text(live.values())) wrong(`the list is ${text(seen)} and should be ${text(live.values())}`)
}

/** What a server takes to warm up is not what is measured. */
function begin(): void {
  latencies.length = 0
  eventLatencies.length = 0
  stalls.length = 0
  process.send!('started')
}

async function writeAndRead(): Promise<void> {
  for (let turn = 0; !stopping; turn++) {
    if (turn === WARM_TURNS) begin()
    await create()
    const names = [...live.keys()]
    if (names.length > 0) await update(names[turn % names.length]!)
    if (live.size > LIVE_OBJECTS) await remove(names[0]!)
    if (turn % 4 === 0) await list()
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

async function run(): Promise<void> {
  const first = (await ask('GET', COLLECTION, 200)) as { metadata: { resourceVersion: string } }
  follow(first.metadata.resourceVersion)
  try {
    await writeAndRead()
  } catch (error) {
    wrong(`a request of the quiet client failed: ${String(error)}`)
  }
  const deadline = performance.now() + EVENTS_DEADLINE_MS
  while (awaited.length > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
  if (awaited.length > 0) wrong(`${awaited.length} events never came, the first of them ${awaited[0]!.key}`)
  const report: QuietReport = {
    latencies: sorted(latencies),
    eventLatencies: sorted(eventLatencies),
    stalls,
    wrongs,
    wrongCount,
    refusals,
    watches,
    writes: made,
    timerLateMs: machine.longestLateMs,
  }
  process.send!(report, () => process.exit(0))
}

const sorted = (numbers: number[]): number[] => [...Float64Array.from(numbers).sort()]

process.on('message', () => {
  stopping = true
})
process.on('disconnect', () => process.exit(0))
machine.start()
await run()

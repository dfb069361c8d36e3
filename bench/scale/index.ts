/**
 * Question: what does one server carry, and what do more threads add? Workload: GETs and creations with 1, 2 and 4 front ends and
 * pool threads; then thousands of watchers that each want the pods of one node, as kubelets do: what one takes of memory, and
 * what a write costs while they watch. Embedded, over TLS, the client on the same cores. Wants wrk.
 * Run: `npm run bench:scale -- --only threads,watchers --watchers 5000 --seconds 2`. What the owner carries alone: `npm run
 * bench:micro -- memory`.
 */
import { cpus } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { benchFolder, benchOptions } from '../command-line.js'
import { change, generate } from '../load/generator.js'
import { Watchers } from '../load/watchers.js'
import { commit } from '../suite/results.js'
import { memoryOf, processorSeconds, type StartedKeelson, startKeelson, stop } from '../suite/servers.js'
import { CONFIGMAPS, CREATED, ONE_POD, PODS, prepare, request } from '../suite/workload.js'

const PARTS = ['threads', 'watchers']
const values = benchOptions('bench:scale', {
  only: { about: 'parts', preset: PARTS.join(','), words: PARTS },
  watchers: { about: 'how many', preset: '5000' },
  seconds: { about: 'of each measurement', preset: '2' },
})
const SECONDS = Number(values.seconds)
const WARM_UP_SECONDS = 2
const THREADS = [1, 2, 4]
const CONNECTIONS = 64
const PODS_OF_NODES = 100
const SETTLE_MS = 5000
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'

const folder = benchFolder('scale')
let servers = 0

async function withServer(flags: readonly string[], work: (server: StartedKeelson) => Promise<void>): Promise<void> {
  const own = path.join(folder, String(servers++))
  const server = await startKeelson(own, [`--data-dir=${own}/data`, ...flags])
  try {
    await prepare(server)
    await work(server)
  } finally {
    await stop(server.process)
  }
}

/** How many a second, and the processor time of one. */
async function measured(
  server: StartedKeelson,
  work: (seconds: number) => Promise<{ perSecond: number; total: number; failed: number }>,
): Promise<string> {
  await work(WARM_UP_SECONDS)
  const before = processorSeconds(server.process)!
  const { perSecond, total, failed } = await work(SECONDS)
  if (failed > 0) throw new Error(`${failed} of ${total} requests failed`)
  const each = ((processorSeconds(server.process)! - before) / total) * 1e6
  return `${Math.round(perSecond).toLocaleString('en-US').padStart(8)}/s ${each.toFixed(1).padStart(7)} µs`
}

function reads(server: StartedKeelson): Promise<string> {
  const load = { url: `${server.url}${ONE_POD}`, token: server.token, connections: CONNECTIONS }
  return measured(server, (seconds) => generate({ ...load, seconds }, folder))
}

function creations(server: StartedKeelson): Promise<string> {
  const load = { url: `${server.url}${CONFIGMAPS}`, token: server.token, connections: CONNECTIONS, body: CREATED }
  return measured(server, (seconds) => generate({ ...load, seconds }, folder))
}

async function threads(): Promise<void> {
  for (const count of THREADS)
    await withServer([`--front-ends=${count}`], async (server) => {
      console.log(`--front-ends=${count}    GET ${await reads(server)}    create ${await creations(server)}`)
    })
  for (const count of THREADS)
    await withServer([`--pool-threads=${count}`], async (server) => {
      console.log(`--pool-threads=${count}  ${''.padEnd(26)}create ${await creations(server)}`)
    })
}

const spec = (i: number): object => ({ nodeName: `node-${i}`, containers: [{ name: 'main', image: 'app:1' }] })

async function watchers(): Promise<void> {
  const count = Number(values.watchers)
  await withServer([], async (server) => {
    for (let i = 0; i < PODS_OF_NODES; i++)
      await request(server, 'POST', PODS, { metadata: { name: `of-${i}` }, spec: spec(i) })
    const load = { url: `${server.url}${PODS}/of-`, objects: PODS_OF_NODES, connections: 16, token: server.token }
    const write = (): Promise<string> =>
      measured(server, (seconds) => change({ ...load, data: 'annotations', seconds }, folder))
    console.log(`change a pod, nobody watches               ${await write()}`)
    await delay(SETTLE_MS)
    const before = memoryOf(server.process)!.anonymous
    const many = new Watchers()
    const target = (i: number): string => `/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dnode-${i}`
    await many.open(server.url, target, server.token, count)
    await delay(SETTLE_MS)
    const each = (memoryOf(server.process)!.anonymous - before) / count
    console.log(`${count} watchers of a node each: ${(each / 1024).toFixed(1)} KiB of the server's memory a watcher`)
    many.reset()
    console.log(`change a pod, ${count} watch, each one node    ${await write()}`)
    many.close()
  })
}

console.log(`${cpus().length} cores of ${cpus()[0]?.model}, Node ${process.version}, commit ${commit()}`)
const alive = setInterval(() => undefined, 1000)
try {
  for (const part of values.only.split(',')) {
    if (part === 'threads') await threads()
    if (part === 'watchers') await watchers()
  }
} finally {
  clearInterval(alive)
}
process.exit(0)

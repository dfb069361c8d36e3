/**
 * Question: what does one watch on the whole prefix cost beside one for each resource, as kube-apiserver opens them?
 * Workload: 70 resources; 10,000 puts of 1 KB spread over them by 16 writers, and everything received by one
 * consumer that touches each event. Before it, the start: a list in pages of 500 and a watch for each prefix, of what the
 * rounds before have left. The first round warms up and is not counted; of the others the median.
 * Run: `npx tsc -b src bench && node build/bench/watch-streams/index.js`, with etcd on the PATH.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'

const RESOURCES = 70
const EVENTS = 10_000
const WRITERS = 16
const ROUNDS = 5
const PORT = 23_790 + Math.floor(Math.random() * 1000)

const dataDir = mkdtempSync(path.join(tmpdir(), 'keelson-bench-'))
const endpoint = `http://127.0.0.1:${PORT}`
const peer = `http://127.0.0.1:${PORT + 1000}`
const etcd = spawn(
  'etcd',
  [
    ...['--data-dir', dataDir, '--log-level', 'error', '--unsafe-no-fsync'],
    ...['--listen-client-urls', endpoint, '--advertise-client-urls', endpoint],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  ],
  { stdio: 'ignore' },
)

interface Measured {
  readonly streams: number
  readonly startMs: number
  readonly seconds: number
  readonly ownCpuMs: number
  readonly etcdCpuMs: number
  readonly etcdMemoryMb: number
}

try {
  await new EtcdKV({ endpoints: [endpoint] }).currentRevision({ timeoutMs: 30_000 })
  await measure(etcd, ['/registry/'])
  const one: Measured[] = []
  const many: Measured[] = []
  for (let round = 0; round < ROUNDS; round++) {
    one.push(await measure(etcd, ['/registry/']))
    many.push(await measure(etcd, resourcePrefixes()))
  }
  report(one)
  report(many)
} finally {
  etcd.kill('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
}

function resourcePrefixes(): string[] {
  return Array.from({ length: RESOURCES }, (_, i) => `/registry/resource-${i}/`)
}

async function measure(server: ChildProcess, prefixes: readonly string[]): Promise<Measured> {
  const watching = new EtcdKV({ endpoints: [endpoint] })
  const writing = new EtcdKV({ endpoints: [endpoint] })
  await watching.currentRevision()
  const starting = performance.now()
  await Promise.all(prefixes.map((prefix) => list(watching, prefix)))
  const startRevision = (await watching.currentRevision()) + 1
  const watches = prefixes.map((key) => watching.watch({ key, prefix: true, startRevision }))
  await Promise.all(watches.map((watch) => watch.established))
  const startMs = performance.now() - starting
  const cpu = process.cpuUsage()
  const etcdCpu = cpuMs(server.pid!)
  const start = performance.now()
  let received = 0
  const receiving = watches.map(async (watch) => {
    while (received < EVENTS) {
      const batch = await watch.next()
      if (batch === undefined) return
      received += batch.events.length
    }
    for (const other of watches) other.close()
  })
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writing, writer, startRevision)))
  await Promise.all(receiving)
  const seconds = (performance.now() - start) / 1000
  const used = process.cpuUsage(cpu)
  const measured = {
    streams: prefixes.length,
    startMs,
    seconds,
    ownCpuMs: (used.user + used.system) / 1000,
    etcdCpuMs: cpuMs(server.pid!) - etcdCpu,
    etcdMemoryMb: residentMb(server.pid!),
  }
  await watching.close()
  await writing.close()
  return measured
}

async function list(kv: EtcdKV, prefix: string): Promise<void> {
  let startKey = prefix
  for (;;) {
    const { kvs, more } = await kv.list(prefix, { startKey, limit: 500 })
    if (!more) return
    startKey = `${kvs.at(-1)!.key}\0`
  }
}

async function write(kv: EtcdKV, writer: number, run: number): Promise<void> {
  for (let i = writer; i < EVENTS; i += WRITERS) {
    await kv.optimisticPut(`/registry/resource-${i % RESOURCES}/run-${run}-${i}`, Buffer.alloc(1024, 'x'), 0)
  }
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

function report(rounds: readonly Measured[]): void {
  const median = (figure: (measured: Measured) => number): number =>
    rounds.map(figure).sort((a, b) => a - b)[rounds.length >> 1]!
  const microseconds = (figure: (measured: Measured) => number): string =>
    `${((median(figure) * 1000) / EVENTS).toFixed(0)} µs`
  console.log(
    `${rounds[0]!.streams} watches: start ${median((m) => m.startMs).toFixed(0)} ms; an event: own CPU ` +
      `${microseconds((m) => m.ownCpuMs)} (its write included), etcd CPU ${microseconds((m) => m.etcdCpuMs)}; ` +
      `${median((m) => m.seconds).toFixed(2)} s in all; etcd memory ${median((m) => m.etcdMemoryMb).toFixed(0)} MB`,
  )
}

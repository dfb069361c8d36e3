/**
 * What a put and a range cost this process in CPU time, over the lean channel and over etcd3, against an etcd on
 * loopback. Waiting is not counted: the question is what is left of the core for everything else.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Etcd3 } from 'etcd3'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'

const CALLS = 4_000
const IN_FLIGHT = 32
const VALUE_BYTES = 2_048
const LIST_KEYS = 2_000
const LISTS = 10

export async function run(): Promise<{ name: string; figure: string; note?: string }[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-bench-etcd-'))
  const etcd = await startEtcd(folder)
  if (etcd === undefined) return [{ name: 'etcd', figure: '–', note: 'etcd is not on the PATH' }]
  const kv = new EtcdKV({ endpoints: [etcd.endpoint] })
  const etcd3 = new Etcd3({ hosts: etcd.endpoint })
  try {
    return await measure(kv, etcd3)
  } finally {
    await kv.close()
    etcd3.close()
    etcd.child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(kv: EtcdKV, etcd3: Etcd3): Promise<{ name: string; figure: string; note?: string }[]> {
  const value = Buffer.alloc(VALUE_BYTES, 'v')
  const put = (i: number): Promise<unknown> => kv.optimisticPut(`/bench/own/${i}`, value, 0)
  const get = (i: number): Promise<unknown> => kv.get(`/bench/own/${i}`)
  const put3 = (i: number): Promise<unknown> =>
    etcd3
      .if(`/bench/etcd3/${i}`, 'Mod', '==', 0)
      .then(etcd3.put(`/bench/etcd3/${i}`).value(value))
      .commit()
  const get3 = (i: number): Promise<unknown> => etcd3.get(`/bench/etcd3/${i}`).buffer()
  const row = async (name: string, call: (i: number) => Promise<unknown>) => {
    const { cpuMicros, perSecond } = await perCall(call)
    return { name, figure: `${cpuMicros.toFixed(0)} µs CPU`, note: `${perSecond.toFixed(0)}/s, ${IN_FLIGHT} in flight` }
  }
  const rows = [
    await row('etcd put, 2 KB', put),
    await row('etcd put, 2 KB, etcd3', put3),
    await row('etcd range, one 2 KB key', get),
    await row('etcd range, one 2 KB key, etcd3', get3),
  ]
  const started = process.cpuUsage()
  let keys = 0
  for (let i = 0; i < LISTS; i++) keys += (await kv.list('/bench/own/', { limit: LIST_KEYS })).kvs.length
  const micros = cpuSince(started)
  rows.push({
    name: `etcd list, ${LIST_KEYS} keys of 2 KB`,
    figure: `${(micros / keys).toFixed(2)} µs CPU a key`,
    note: `${(micros / LISTS / 1000).toFixed(1)} ms a list`,
  })
  return rows
}

async function perCall(call: (i: number) => Promise<unknown>): Promise<{ cpuMicros: number; perSecond: number }> {
  const warmUp = CALLS / 2
  let next = -warmUp
  const work = async (until: number): Promise<void> => {
    while (next < until) await call(++next + warmUp)
  }
  const inFlight = (until: number): Promise<unknown> =>
    Promise.all(Array.from({ length: IN_FLIGHT }, () => work(until)))
  await inFlight(0)
  const startedMs = performance.now()
  const started = process.cpuUsage()
  const first = next
  await inFlight(CALLS)
  const calls = next - first
  return { cpuMicros: cpuSince(started) / calls, perSecond: (calls * 1000) / (performance.now() - startedMs) }
}

function cpuSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(started)
  return user + system
}

async function startEtcd(folder: string): Promise<{ endpoint: string; child: ChildProcess } | undefined> {
  const [port, peerPort] = [await freePort(), await freePort()]
  const endpoint = `http://127.0.0.1:${port}`
  const peer = `http://127.0.0.1:${peerPort}`
  const args = [
    ...['--data-dir', folder, '--log-level', 'error', '--initial-cluster', `default=${peer}`],
    ...['--listen-client-urls', endpoint, '--advertise-client-urls', endpoint],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
  ]
  const child = spawn('etcd', args, { stdio: 'ignore' })
  const failed = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(true))
    child.once('spawn', () => resolve(false))
  })
  return failed ? undefined : { endpoint, child }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo
      server.close(() => resolve(port))
    })
  })
}

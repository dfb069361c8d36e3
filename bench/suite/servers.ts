/** Servers that are measured: Keelson on its engine or on etcd, uWebSockets.js alone, or one that runs already. */
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { announcedUrl } from '../announced-url.js'

const TOKEN = 'bench'
const TICKS_PER_SECOND = 100
/** What is garbage goes when nobody has asked for anything for some ten seconds (QuietCollector). */
export const SETTLE_MS = 12_000

export interface Target {
  readonly url: string
  readonly token: string
  /** Undefined: somebody else's process. */
  readonly process: ChildProcess | undefined
}

export interface StartedKeelson extends Target {
  readonly process: ChildProcess
  readonly certFile: string
  readonly keyFile: string
  /** From the start of the process until it served. */
  readonly readyMs: number
}

/** The server as users start it, over TLS. `folder` keeps its files; `tree` is the checkout whose bundle runs, `node` what runs it. */
export async function startKeelson(
  folder: string,
  flags: readonly string[],
  tree = '.',
  node = process.execPath,
): Promise<StartedKeelson> {
  mkdirSync(folder, { recursive: true })
  const tokens = path.join(folder, 'tokens.csv')
  writeFileSync(tokens, `${TOKEN},bench,bench,"system:masters"\n`)
  const certs = path.join(folder, 'certs')
  const started = performance.now()
  const server = spawn(
    node,
    [
      path.join(tree, 'bundle/main/index.js'),
      ...['--secure-port=0', `--cert-dir=${certs}`, `--token-auth-file=${tokens}`, '--log-level=error'],
      // The pods that are compared have no token: kube-apiserver alone, without its controllers, could not give them one.
      ...['--disable-admission-plugins=ServiceAccount', ...flags],
    ],
    // Not with what this process is told: the server verifies whom it calls.
    { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env['PATH'], HOME: process.env['HOME'] } },
  )
  const url = await announcedUrl(server)
  const readyMs = performance.now() - started
  const file = (name: string): string => path.join(certs, name)
  const [certFile, keyFile] = [file('apiserver.crt'), file('apiserver.key')]
  return { url, token: TOKEN, process: server, certFile, keyFile, readyMs }
}

export interface Bodies {
  readonly object: Uint8Array
  readonly list: Uint8Array
  readonly created: Uint8Array
  readonly event: Uint8Array
  readonly eventsEachSecond: number
}

/** uWebSockets.js alone with the same certificate and bytes. */
export async function startBare(keelson: StartedKeelson, bodies: Bodies): Promise<Target> {
  const script = fileURLToPath(new URL('../load/bare-server.js', import.meta.url))
  const server = fork(script, [keelson.certFile, keelson.keyFile], { serialization: 'advanced' })
  server.send(bodies)
  const [port] = (await once(server, 'message')) as [number]
  return { url: `https://127.0.0.1:${port}`, token: TOKEN, process: server }
}

export const hasEtcd = spawnSync('etcd', ['--version']).error === undefined

/** One member with its files in `folder`, every write synced, as it is by default. */
export async function startEtcd(
  folder: string,
): Promise<{ readonly endpoint: string; readonly process: ChildProcess }> {
  const [clients, peers] = [await freePort(), await freePort()]
  const endpoint = `http://127.0.0.1:${clients}`
  const peer = `http://127.0.0.1:${peers}`
  const server = spawn(
    'etcd',
    [
      ...['--data-dir', folder, '--listen-client-urls', endpoint, '--advertise-client-urls', endpoint],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
    ],
    { stdio: 'ignore' },
  )
  while (!(await healthy(endpoint))) {
    if (server.exitCode !== null) throw new Error(`etcd ended with code ${server.exitCode}`)
    await delay(50)
  }
  return { endpoint, process: server }
}

export async function stop(server: ChildProcess | undefined): Promise<void> {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
  server.kill('SIGKILL')
  await once(server, 'exit')
}

/** Seconds of processor time that a process has used; undefined where it cannot be seen. */
export function processorSeconds(server: ChildProcess | undefined): number | undefined {
  if (server === undefined || process.platform !== 'linux') return undefined
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** What it holds now, and of that what is in no file: heaps and shared memory. */
export function memoryOf(server: ChildProcess): { readonly resident: number; readonly anonymous: number } | undefined {
  if (process.platform !== 'linux') return undefined
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  const of = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1024
  return { resident: of('VmRSS'), anonymous: of('RssAnon') + of('RssShmem') }
}

async function healthy(endpoint: string): Promise<boolean> {
  try {
    return (await fetch(`${endpoint}/health`)).ok
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('a TCP server has an address')
  return address.port
}

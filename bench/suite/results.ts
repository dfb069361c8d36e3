/** What was measured, kept in a file: a later run replaces what it measures anew and keeps the rest. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import path from 'node:path'

export const SCENARIOS = {
  get: 'GET one pod, consistent',
  'get-0': 'GET one pod, resourceVersion=0',
  list: 'LIST all pods, consistent',
  'get-node': "GET one pod, consistent, on Node's own engine",
  'get-node-http2': 'the same over HTTP/2',
  'list-node': "LIST all pods, consistent, on Node's own engine",
  'list-node-http2': 'the same over HTTP/2',
  'watch-200': 'watch, 200 watchers, 4 writers, events',
  'watch-1000': 'watch, 1,000 watchers, 4 writers, events',
  'watch-200-steady': '200 watchers, 10 writes a second: p99 of an event',
  'watch-1000-steady': '1,000 watchers, 10 writes a second: p99 of an event',
  create: 'create a 1 KB ConfigMap, 32 connections',
  'create-1-policy': 'the same under 1 policy of two expressions',
  'create-20-policies': 'the same under 20 such policies',
  'create-webhook': 'the same with a validating webhook on loopback',
  'writes-a-sync': 'of these creations, in one sync of the disk',
  syncs: 'syncs of the disk meanwhile',
  'sync-time': 'time of one sync',
  'namespace-delete': 'delete a namespace with so many ConfigMaps in it',
  collect: 'delete an owner: until all its dependents are collected',
  'controllers-idle': 'processor of the controllers in a second without requests',
  'controllers-memory': 'memory of the controllers, after the same',
  'first-create': 'the first creation after a start: a namespace',
  'create-first-1000': 'the first 1,000 pods of 4 KB after a start, 16 connections',
  'create-fourth-1000': 'the fourth 1,000',
  ready: 'ready after start, nothing stored',
  restart: 'ready after start on what is there',
  'memory-empty': 'anonymous memory, nothing stored',
  memory: 'anonymous memory with so many pods',
  'memory-load': 'anonymous memory after reads, watches and creations',
  'memory-restart': 'anonymous memory after a start on what is there',
  definitions: 'definitions of 20 KB, 8 at a time, until the last is served',
  'definitions-memory': 'memory for one of them',
  'custom-create': 'create a custom object of 12.8 KB, 16 connections',
  'custom-memory': 'memory for these objects',
  'custom-list': 'LIST all of them, consistent',
} as const
export type Scenario = keyof typeof SCENARIOS

/** `keelson`: with the embedded engine; `bare`: uWebSockets.js alone with the same bytes. */
export type TargetName = 'keelson' | 'keelson-etcd' | 'bare' | 'peer'

export interface Row {
  readonly scenario: Scenario
  /** Pods that are there; of custom resources, definitions or objects. */
  readonly size: number
  readonly target: TargetName
  readonly value: number
  readonly unit: 'per second' | 'ms' | 'bytes' | 'count'
  readonly p50Ms?: number | undefined
  readonly p99Ms?: number | undefined
  /** Processor time of the whole server for one. */
  readonly processorMicroseconds?: number | undefined
  readonly answerBytes?: number
  readonly seconds: number
  /** How busy the machine was when the run began: the load average of a minute. */
  readonly loadBefore: number
  readonly commit: string
  readonly at: string
}

export interface Results {
  readonly machine: string
  readonly generator: string
  readonly rows: readonly Row[]
}

export const keyOf = ({ scenario, size, target }: Pick<Row, 'scenario' | 'size' | 'target'>): string =>
  `${scenario} ${size} ${target}`

export const machine = (): string =>
  `${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown kind'}, ${process.platform}, Node ${process.version}`

/** The commit, with a mark when something is not committed. */
export function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', 'src', 'bench') === '' ? '' : '+')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return 'no repository'
    return 'unknown'
  }
}

export class ResultsFile {
  readonly path: string

  constructor(file: string) {
    this.path = file
  }

  read(): Results | undefined {
    return existsSync(this.path) ? (JSON.parse(readFileSync(this.path, 'utf8')) as Results) : undefined
  }

  /** What was measured of this commit on this machine: a run that was broken off need not measure it again. */
  measuredNow(): readonly Row[] {
    const there = this.read()
    const now = commit()
    return there?.machine === machine() ? there.rows.filter((row) => row.commit === now) : []
  }

  clear(): void {
    rmSync(this.path, { force: true })
  }

  /** Rows of another machine are not kept beside these. */
  merge(rows: readonly Row[], generator: string): Results {
    const before = this.read()
    const kept = new Map((before?.machine === machine() ? before.rows : []).map((row) => [keyOf(row), row]))
    for (const row of rows) kept.set(keyOf(row), row)
    const results: Results = { machine: machine(), generator, rows: [...kept.values()].sort(inOrder) }
    mkdirSync(path.dirname(this.path), { recursive: true })
    writeFileSync(this.path, `${JSON.stringify(results, undefined, 2)}\n`)
    return results
  }
}

const order = Object.keys(SCENARIOS)
const TARGETS: readonly TargetName[] = ['keelson', 'keelson-etcd', 'bare', 'peer']
const inOrder = (a: Row, b: Row): number =>
  order.indexOf(a.scenario) - order.indexOf(b.scenario) ||
  a.size - b.size ||
  TARGETS.indexOf(a.target) - TARGETS.indexOf(b.target)

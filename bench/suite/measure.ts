/** What is measured of one server: each figure once, said as soon as it is there, and left out when it is known already. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Commits, commitsOf, commitsOfEtcd } from '../load/commits.js'
import { generate, multiplex } from '../load/generator.js'
import { fanOut } from './fan-out.js'
import type { Progress } from './progress.js'
import { commit, keyOf, type Row, SCENARIOS, type Scenario, type TargetName } from './results.js'
import { memoryOf, processorSeconds, SETTLE_MS, type StartedKeelson, startBare, stop, type Target } from './servers.js'
import {
  addPolicies,
  addWebhook,
  CONFIGMAPS,
  CREATED,
  ONE_POD,
  PODS,
  read,
  removePolicies,
  removeWebhook,
} from './workload.js'

export type Figure = Pick<Row, 'value' | 'unit'> & Partial<Row>

export interface MeasureOptions {
  /** For files of the generator. */
  readonly folder: string
  readonly seconds: number
  readonly only: ReadonlySet<string>
  /** What need not be measured again. */
  readonly known: readonly Row[]
  readonly onRows: (rows: readonly Row[]) => void
}

/** What is measured: a server, the name it has in the results, and how many pods it holds. */
export interface Subject {
  readonly target: Target
  readonly name: TargetName
  readonly size: number
  /** Whose certificate and bytes uWebSockets.js alone is measured with; undefined: it is not. */
  readonly beside?: StartedKeelson
  /** The etcd that it writes to. */
  readonly etcd?: string
}

type WatchScenario = (typeof WATCHES)[number][0]
type Syncs = Omit<Commits, 'writes'>

interface Requests {
  readonly address: string
  readonly connections: number
  readonly body?: string
  /** HTTP/2 with so many streams a connection. */
  readonly streams?: number
}

const WARM_UP_SECONDS = 3
/** Answers that a rate is made of, if they come within so many seconds. */
const ENOUGH = 3
const MAX_SECONDS = 20
/** Above this, a list is some hundred megabytes: few clients ask for it at once. */
const LARGE_LIST = 5000
/** More than the watchers can read. */
const BARE_EVENTS_EACH_SECOND = 1000
const WATCHES = [
  ['watch-200', 200],
  ['watch-1000', 1000],
] as const
const POLICIES = [
  ['create-1-policy', 1],
  ['create-20-policies', 20],
] as const

export class Measure {
  readonly #options: MeasureOptions
  readonly #progress: Progress
  readonly #commit = commit()
  readonly #loadBefore = loadavg()[0] ?? 0
  readonly #known: Set<string>

  constructor(options: MeasureOptions, progress: Progress) {
    this.#options = options
    this.#progress = progress
    this.#known = new Set(options.known.map(keyOf))
  }

  wants(...parts: string[]): boolean {
    return parts.some((part) => this.#options.only.has(part))
  }

  isKnown(target: TargetName, size: number, ...scenarios: Scenario[]): boolean {
    return scenarios.every((scenario) => this.#known.has(keyOf({ scenario, size, target })))
  }

  row(scenario: Scenario, size: number, target: TargetName, figure: Figure): void {
    const { seconds, onRows } = this.#options
    const at = new Date().toISOString()
    const shared = { seconds, loadBefore: this.#loadBefore, commit: this.#commit, at }
    onRows([{ scenario, size, target, ...shared, ...figure }])
  }

  async reads({ target, name, size, beside }: Subject): Promise<void> {
    const get = { address: ONE_POD, connections: 32 }
    const list = { address: PODS, connections: size > LARGE_LIST ? 2 : 8 }
    if (this.wants('get')) {
      await this.#requests('get', target, name, size, get)
      await this.#requests('get-0', target, name, size, { ...get, address: `${ONE_POD}?resourceVersion=0` })
    }
    if (this.wants('list')) await this.#requests('list', target, name, size, list)
    if (beside === undefined || !this.wants('get', 'list')) return
    if (this.isKnown('bare', size, 'get', 'get-0', 'list')) return
    await this.#withBare(beside, async (bare) => {
      if (this.wants('get')) {
        const row = await this.#requests('get', bare, 'bare', size, { ...get, address: '/object' })
        if (row !== undefined) this.row('get-0', size, 'bare', row)
      }
      if (this.wants('list')) await this.#requests('list', bare, 'bare', size, { ...list, address: '/list' })
    })
  }

  /** The same reads of a server that runs on Node's own engine, over HTTP/1.1 and, where h2load is there, over HTTP/2. */
  async engineReads(target: Target, size: number): Promise<void> {
    await this.#requests('get-node', target, 'keelson', size, { address: ONE_POD, connections: 32 })
    await this.#requests('list-node', target, 'keelson', size, { address: PODS, connections: 8 })
    await this.#requests('get-node-http2', target, 'keelson', size, { address: ONE_POD, connections: 4, streams: 8 })
    await this.#requests('list-node-http2', target, 'keelson', size, { address: PODS, connections: 2, streams: 4 })
  }

  async watches({ target, name, size, beside }: Subject): Promise<void> {
    if (!this.wants('watch')) return
    for (const [scenario, count] of WATCHES) {
      await this.#watch(scenario, count, target, name, size)
      if (beside === undefined || this.isKnown('bare', size, scenario)) continue
      await this.#withBare(beside, (bare) => this.#watch(scenario, count, bare, 'bare', size))
    }
  }

  async #watch(
    scenario: WatchScenario,
    watchers: number,
    server: Target,
    name: TargetName,
    size: number,
  ): Promise<void> {
    if (this.isKnown(name, size, scenario)) return
    this.#progress.step(`${SCENARIOS[scenario]}: ${name}`)
    const { seconds, folder } = this.#options
    const figure = await fanOut(server, { watchers, seconds, bare: name === 'bare', folder })
    this.row(scenario, size, name, {
      value: figure.eventsPerSecond,
      unit: 'per second',
      processorMicroseconds: figure.microseconds,
      ...figure.full,
    })
    const { steady } = figure
    if (steady === undefined) return
    this.row(`${scenario}-steady`, size, name, { value: steady.p99Ms, unit: 'ms', p50Ms: steady.p50Ms })
  }

  async creations({ target, name, size, beside, etcd }: Subject): Promise<void> {
    if (!this.wants('create')) return
    const create = { address: CONFIGMAPS, connections: 32, body: CREATED }
    const look = async (): Promise<Syncs | undefined> => {
      if (etcd !== undefined) return commitsOfEtcd(await (await fetch(`${etcd}/metrics`)).text())
      return name === 'keelson' ? commitsOf((await read(target, '/metrics')).toString()) : undefined
    }
    if (!this.isKnown(name, size, 'create')) {
      await this.#requests('create', target, name, size, { ...create }, look)
    }
    if (beside === undefined || this.isKnown('bare', size, 'create')) return
    await this.#withBare(beside, (bare) =>
      this.#requests('create', bare, 'bare', size, { ...create, address: '/create' }),
    )
  }

  /** The warm-up is longer than others take to notice a policy. */
  async policies({ target, name, size }: Subject): Promise<void> {
    if (!this.wants('policies')) return
    for (const [scenario, count] of POLICIES) {
      if (this.isKnown(name, size, scenario)) continue
      await addPolicies(target, count)
      try {
        await this.#requests(scenario, target, name, size, { address: CONFIGMAPS, connections: 32, body: CREATED })
      } finally {
        await removePolicies(target, count)
      }
    }
  }

  /** The webhook has a process of its own; `--peer` must be able to reach it. */
  async webhook({ target, name, size }: Subject): Promise<void> {
    if (!this.wants('webhooks') || this.isKnown(name, size, 'create-webhook')) return
    const hook = fork(fileURLToPath(new URL('./webhook-process.js', import.meta.url)))
    try {
      const [clientConfig] = (await once(hook, 'message')) as [object]
      await addWebhook(target, clientConfig)
      const create = { address: CONFIGMAPS, connections: 32, body: CREATED }
      await this.#requests('create-webhook', target, name, size, create)
    } finally {
      await removeWebhook(target)
      hook.disconnect()
    }
  }

  async memory(scenario: Scenario, { target, name, size }: Subject): Promise<void> {
    if (!this.wants('memory') || target.process === undefined || this.isKnown(name, size, scenario)) return
    this.#progress.step(`${SCENARIOS[scenario]}, ${size} pods: ${name}`)
    await delay(SETTLE_MS)
    const memory = memoryOf(target.process)
    if (memory !== undefined) this.row(scenario, size, name, { value: memory.anonymous, unit: 'bytes' })
  }

  async #withBare(keelson: StartedKeelson, work: (bare: Target) => Promise<unknown>): Promise<void> {
    const bare = await this.#bare(keelson)
    try {
      await work(bare)
    } finally {
      await stop(bare.process)
    }
  }

  async #bare(keelson: StartedKeelson): Promise<Target> {
    const object = await read(keelson, ONE_POD)
    const watched = await read(keelson, `${CONFIGMAPS}/watched-0`)
    const [head, tail] = [Buffer.from('{"type":"MODIFIED","object":'), Buffer.from('}\n')]
    const event = Buffer.concat([head, watched.subarray(0, -1), tail])
    const list = await read(keelson, PODS)
    return startBare(keelson, { object, list, created: watched, event, eventsEachSecond: BARE_EVENTS_EACH_SECOND })
  }

  /** Undefined when it is known already. */
  async #requests(
    scenario: Scenario,
    target: Target,
    name: TargetName,
    size: number,
    { address, connections, body, streams }: Requests,
    look?: () => Promise<Syncs | undefined>,
  ): Promise<Figure | undefined> {
    if (this.isKnown(name, size, scenario)) return undefined
    this.#progress.step(`${SCENARIOS[scenario]}, ${size} pods: ${name}`)
    const { seconds, folder } = this.#options
    const load = {
      ...{ url: `${target.url}${address}`, token: target.token, connections },
      ...(body === undefined ? {} : { body }),
    }
    const send = (during: number) =>
      streams === undefined
        ? generate({ ...load, seconds: during }, folder)
        : multiplex({ ...load, seconds: during, streams })
    const answerBytes = body === undefined ? (await read(target, address)).byteLength : undefined
    // A server that has just started compiles what it runs.
    if (name !== 'bare') await send(WARM_UP_SECONDS)
    const commits = await look?.()
    let [before, measuredFor] = [processorSeconds(target.process), seconds]
    let outcome = await send(seconds)
    // A list of hundreds of megabytes may take longer than that.
    while (outcome !== undefined && outcome.total < ENOUGH && measuredFor < MAX_SECONDS) {
      before = processorSeconds(target.process)
      measuredFor *= 2
      outcome = await send(measuredFor)
    }
    const after = processorSeconds(target.process)
    // The generator is not here.
    if (outcome === undefined) return undefined
    const { perSecond, total, failed, p99Ms } = outcome
    if (failed > 0) throw new Error(`${SCENARIOS[scenario]}, ${name}: ${failed} of ${total} requests failed`)
    const used = before === undefined || after === undefined ? undefined : after - before
    const figure: Figure = {
      ...{ value: perSecond, unit: 'per second', p99Ms, seconds: measuredFor },
      processorMicroseconds: used && (used / Math.max(1, total)) * 1e6,
      ...(answerBytes === undefined ? {} : { answerBytes }),
    }
    this.row(scenario, size, name, figure)
    if (commits !== undefined) this.#syncs(name, size, commits, (await look?.())!, { total, seconds: measuredFor })
    return figure
  }

  /** `meanwhile`: the writes that were answered. */
  #syncs(
    name: TargetName,
    size: number,
    before: Syncs,
    after: Syncs,
    meanwhile: { readonly total: number; readonly seconds: number },
  ): void {
    const syncs = after.commits - before.commits
    if (syncs === 0) return
    this.row('writes-a-sync', size, name, { value: meanwhile.total / syncs, unit: 'count' })
    this.row('syncs', size, name, { value: syncs / meanwhile.seconds, unit: 'per second' })
    this.row('sync-time', size, name, { value: ((after.seconds - before.seconds) * 1000) / syncs, unit: 'ms' })
  }
}

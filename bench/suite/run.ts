/** A run: starts servers one after the other, gives each its objects, measures. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { generate } from '../load/generator.js'
import { AIM_SIZE } from './aims.js'
import { measureCold } from './cold.js'
import { measureControllers } from './controllers.js'
import { measureCustom } from './custom.js'
import { fanOut } from './fan-out.js'
import { Progress } from './progress.js'
import { commit, type Row, SCENARIOS, type Scenario, type TargetName } from './results.js'
import {
  hasEtcd,
  processorSeconds,
  residentBytes,
  type StartedKeelson,
  startBare,
  startEtcd,
  startKeelson,
  stop,
  type Target,
} from './servers.js'
import {
  addPolicies,
  addWebhook,
  CONFIGMAPS,
  CREATED,
  cleanUp,
  fill,
  ONE_POD,
  PODS,
  prepare,
  read,
  removePolicies,
  removeWebhook,
} from './workload.js'

export interface RunOptions {
  readonly folder: string
  /** Ascending: objects are added. */
  readonly sizes: readonly number[]
  readonly seconds: number
  readonly only: ReadonlySet<string>
  readonly storage: ReadonlySet<string>
  readonly flags: readonly string[]
  readonly peer: Target | undefined
  readonly onRows: (rows: readonly Row[]) => void
}

const STARTS = 3
const WARM_UP_SECONDS = 3
/** Answers that a rate is made of, if they come within so many seconds. */
const ENOUGH = 3
const MAX_SECONDS = 20
/** Above this, a list is some hundred megabytes: few clients ask for it at once. */
const LARGE_LIST = 5000
/** More than the watchers can read. */
const BARE_EVENTS_EACH_SECOND = 1000

export class Run {
  readonly #options: RunOptions
  readonly #progress: Progress
  readonly #commit = commit()
  readonly #loadBefore = loadavg()[0] ?? 0

  constructor(options: RunOptions) {
    this.#options = options
    const others = (this.#onEtcd ? 1 : 0) + (options.peer === undefined ? 0 : 1)
    const steps =
      this.#wants('start') +
      this.#wants('cold') * (this.#onEtcd ? 2 : 1) +
      this.#wants('custom') +
      this.#wants('controllers') +
      options.sizes.length * (1 + this.#wants('get') * 3 + this.#wants('list') * 2) +
      (this.#wants('watch') * 2 + this.#wants('create') * 2 + this.#wants('policies') * 2 + this.#wants('webhooks')) +
      others *
        (1 +
          this.#wants('get') * 2 +
          this.#wants('list') +
          this.#wants('watch') * 2 +
          this.#wants('create') +
          this.#wants('policies') * 2 +
          this.#wants('webhooks'))
    this.#progress = new Progress(steps)
  }

  get #onEtcd(): boolean {
    return hasEtcd && this.#options.storage.has('etcd')
  }

  #wants(...parts: string[]): number {
    return parts.filter((part) => this.#options.only.has(part)).length
  }

  async all(): Promise<void> {
    const { storage, peer } = this.#options
    try {
      if (this.#wants('start') && storage.has('embedded')) await this.#starts()
      if (this.#wants('cold')) await this.#cold()
      const isApart = this.#wants('cold', 'custom', 'controllers') === this.#options.only.size
      if (storage.has('embedded') && !isApart) await this.#embedded()
      if (this.#wants('custom') && storage.has('embedded')) await this.#custom()
      if (this.#wants('controllers') && storage.has('embedded')) await this.#controllers()
      if (this.#onEtcd && !isApart) await this.#etcd()
      if (peer !== undefined) await this.#other(peer)
    } finally {
      this.#progress.end()
    }
  }

  #row(
    scenario: Scenario,
    size: number,
    target: TargetName,
    measured: Pick<Row, 'value' | 'unit'> & Partial<Row>,
  ): void {
    const { seconds, onRows } = this.#options
    onRows([
      {
        scenario,
        size,
        target,
        seconds,
        loadBefore: this.#loadBefore,
        commit: this.#commit,
        at: new Date().toISOString(),
        ...measured,
      },
    ])
  }

  async #starts(): Promise<void> {
    this.#progress.step(SCENARIOS.ready)
    const times: number[] = []
    for (let i = 0; i < STARTS; i++) {
      const folder = path.join(this.#options.folder, `start-${i}`)
      const keelson = await startKeelson(folder, [`--data-dir=${folder}/data`, ...this.#options.flags])
      times.push(keelson.readyMs)
      await stop(keelson.process)
    }
    this.#row('ready', 0, 'keelson', { value: times.sort((a, b) => a - b)[Math.floor(STARTS / 2)]!, unit: 'ms' })
  }

  /** Every start is one of a server that has nothing: on etcd each has a prefix of its own. */
  async #cold(): Promise<void> {
    const { storage, folder, flags } = this.#options
    const measure = async (target: TargetName, more: (name: string) => readonly string[]): Promise<void> => {
      this.#progress.step(`the first 1,000 pods: ${target}`)
      const start = (name: string): Promise<StartedKeelson> =>
        startKeelson(path.join(folder, `${target}-${name}`), [...more(name), ...flags])
      await measureCold(start, (scenario, figure) => this.#row(scenario, 0, target, figure))
    }
    if (storage.has('embedded')) await measure('keelson', (name) => [`--data-dir=${folder}/keelson-${name}/data`])
    if (!this.#onEtcd) return
    const etcd = await startEtcd(path.join(folder, 'cold-etcd'))
    try {
      await measure('keelson-etcd', (name) => [`--etcd-servers=${etcd.endpoint}`, `--etcd-prefix=/${name}`])
    } finally {
      await stop(etcd.process)
    }
  }

  async #embedded(): Promise<void> {
    const start = async (name: string): Promise<StartedKeelson> => {
      const folder = path.join(this.#options.folder, name)
      return startKeelson(folder, [`--data-dir=${folder}/data`, ...this.#options.flags])
    }
    // On a server of its own: what creations leave behind is not what other sizes are about.
    let keelson = await start('embedded')
    try {
      await this.#atAimSize(keelson, 'keelson', keelson)
      await stop(keelson.process)
      keelson = await start('sizes')
      await prepare(keelson)
      for (const size of this.#options.sizes) {
        if (size === this.#aimSize) continue
        this.#progress.step(`${size} pods`)
        await fill(keelson, size)
        await this.#reads(keelson, 'keelson', size, keelson)
        this.#memory('memory', keelson, 'keelson', size)
      }
      if (!this.#wants('start') || this.#options.sizes.length === 1) return
      await stop(keelson.process)
      keelson = await start('sizes')
      this.#row('restart', this.#options.sizes.at(-1)!, 'keelson', { value: keelson.readyMs, unit: 'ms' })
    } finally {
      await stop(keelson.process)
    }
  }

  /** On a server of its own: memory is what this is about. */
  async #custom(): Promise<void> {
    this.#progress.step('custom resources')
    const folder = path.join(this.#options.folder, 'custom')
    const keelson = await startKeelson(folder, [`--data-dir=${folder}/data`, ...this.#options.flags])
    try {
      await measureCustom(keelson, (scenario, size, measured) => this.#row(scenario, size, 'keelson', measured))
    } finally {
      await stop(keelson.process)
    }
  }

  async #controllers(): Promise<void> {
    this.#progress.step('controllers')
    const { folder, flags } = this.#options
    await measureControllers(folder, flags, (scenario, size, figure) => this.#row(scenario, size, 'keelson', figure))
  }

  async #etcd(): Promise<void> {
    const folder = path.join(this.#options.folder, 'etcd')
    const etcd = await startEtcd(path.join(folder, 'member'))
    try {
      const keelson = await startKeelson(folder, [`--etcd-servers=${etcd.endpoint}`, ...this.#options.flags])
      try {
        if (this.#wants('start')) this.#row('ready', 0, 'keelson-etcd', { value: keelson.readyMs, unit: 'ms' })
        await this.#atAimSize(keelson, 'keelson-etcd')
      } finally {
        await stop(keelson.process)
      }
    } finally {
      await stop(etcd.process)
    }
  }

  async #other(peer: Target): Promise<void> {
    try {
      await this.#atAimSize(peer, 'peer')
    } finally {
      await cleanUp(peer)
    }
  }

  /** Everything. Beside others one size is enough: what depends on the number of objects is seen on the engine. */
  async #atAimSize(target: Target, name: TargetName, beside?: StartedKeelson): Promise<void> {
    const size = this.#aimSize
    this.#progress.step(`${size} pods: ${name}`)
    await prepare(target)
    await fill(target, size)
    await this.#reads(target, name, size, beside)
    await this.#watches(target, name, size, beside)
    this.#memory('memory', target, name, size)
    await this.#creations(target, name, size, beside)
    this.#memory('memory-create', target, name, size)
    await this.#policies(target, name, size)
    await this.#webhook(target, name, size)
  }

  /** The size that the aims speak of, or the nearest that is measured. */
  get #aimSize(): number {
    const { sizes } = this.#options
    return sizes.includes(AIM_SIZE) ? AIM_SIZE : sizes[0]!
  }

  async #reads(target: Target, name: TargetName, size: number, beside?: StartedKeelson): Promise<void> {
    const listed = size > LARGE_LIST ? 2 : 8
    if (this.#wants('get')) {
      await this.#requests('get', target, name, size, ONE_POD, 64)
      await this.#requests('get-0', target, name, size, `${ONE_POD}?resourceVersion=0`, 64)
    }
    if (this.#wants('list')) await this.#requests('list', target, name, size, PODS, listed)
    if (beside === undefined || this.#wants('get', 'list') === 0) return
    const bare = await this.#bare(beside)
    try {
      if (this.#wants('get')) {
        const row = await this.#requests('get', bare, 'bare', size, '/object', 64)
        this.#row('get-0', size, 'bare', row)
      }
      if (this.#wants('list')) await this.#requests('list', bare, 'bare', size, '/list', listed)
    } finally {
      await stop(bare.process)
    }
  }

  async #bare(keelson: StartedKeelson): Promise<Target> {
    const object = await read(keelson, ONE_POD)
    const watched = await read(keelson, `${CONFIGMAPS}/watched-0`)
    const event = Buffer.concat([
      Buffer.from('{"type":"MODIFIED","object":'),
      watched.subarray(0, -1),
      Buffer.from('}\n'),
    ])
    const list = await read(keelson, PODS)
    return startBare(keelson, { object, list, created: watched, event, eventsEachSecond: BARE_EVENTS_EACH_SECOND })
  }

  async #watches(target: Target, name: TargetName, size: number, beside?: StartedKeelson): Promise<void> {
    if (!this.#wants('watch')) return
    for (const [scenario, count] of [
      ['watch-200', 200],
      ['watch-1000', 1000],
    ] as const) {
      this.#progress.step(`${SCENARIOS[scenario]}: ${name}`)
      const measure = async (server: Target, as: TargetName): Promise<void> => {
        const { seconds, folder } = this.#options
        const figure = await fanOut(server, { watchers: count, seconds, bare: as === 'bare', folder })
        this.#row(scenario, size, as, {
          value: figure.eventsPerSecond,
          unit: 'per second',
          processorMicroseconds: figure.microseconds,
          p50Ms: figure.p50Ms,
          p99Ms: figure.p99Ms,
        })
      }
      await measure(target, name)
      if (beside === undefined) continue
      const bare = await this.#bare(beside)
      try {
        await measure(bare, 'bare')
      } finally {
        await stop(bare.process)
      }
    }
  }

  async #creations(target: Target, name: TargetName, size: number, beside?: StartedKeelson): Promise<void> {
    if (!this.#wants('create')) return
    await this.#requests('create', target, name, size, CONFIGMAPS, 32, CREATED)
    if (beside === undefined) return
    const bare = await this.#bare(beside)
    try {
      await this.#requests('create', bare, 'bare', size, '/create', 32, CREATED)
    } finally {
      await stop(bare.process)
    }
  }

  /** The warm-up is longer than others take to notice a policy. */
  async #policies(target: Target, name: TargetName, size: number): Promise<void> {
    if (!this.#wants('policies')) return
    for (const [scenario, count] of [
      ['create-1-policy', 1],
      ['create-20-policies', 20],
    ] as const) {
      await addPolicies(target, count)
      try {
        await this.#requests(scenario, target, name, size, CONFIGMAPS, 32, CREATED)
      } finally {
        await removePolicies(target, count)
      }
    }
  }

  /** The webhook has a process of its own; `--peer` must be able to reach it. */
  async #webhook(target: Target, name: TargetName, size: number): Promise<void> {
    if (!this.#wants('webhooks')) return
    const hook = fork(fileURLToPath(new URL('./webhook-process.js', import.meta.url)))
    try {
      const [clientConfig] = (await once(hook, 'message')) as [object]
      await addWebhook(target, clientConfig)
      await this.#requests('create-webhook', target, name, size, CONFIGMAPS, 32, CREATED)
    } finally {
      await removeWebhook(target)
      hook.disconnect()
    }
  }

  async #requests(
    scenario: Scenario,
    target: Target,
    name: TargetName,
    size: number,
    address: string,
    connections: number,
    body?: string,
  ): Promise<Pick<Row, 'value' | 'unit'> & Partial<Row>> {
    this.#progress.step(`${SCENARIOS[scenario]}, ${size} pods: ${name}`)
    const { url, token, process: server } = target
    const { seconds, folder } = this.#options
    const load = { url: `${url}${address}`, token, seconds, connections, ...(body === undefined ? {} : { body }) }
    const answerBytes = body === undefined ? (await read(target, address)).byteLength : undefined
    // A server that has just started compiles what it runs.
    if (name !== 'bare') await generate({ ...load, seconds: WARM_UP_SECONDS }, folder)
    let [before, measuredFor] = [processorSeconds(server), seconds]
    let outcome = await generate(load, folder)
    // A list of hundreds of megabytes may take longer than that.
    while (outcome.total < ENOUGH && measuredFor < MAX_SECONDS) {
      before = processorSeconds(server)
      measuredFor *= 2
      outcome = await generate({ ...load, seconds: measuredFor }, folder)
    }
    const { perSecond, total, failed, p99Ms } = outcome
    if (failed > 0) throw new Error(`${SCENARIOS[scenario]}, ${name}: ${failed} of ${total} requests failed`)
    const after = processorSeconds(server)
    const measured = {
      value: perSecond,
      unit: 'per second' as const,
      p99Ms,
      seconds: measuredFor,
      processorMicroseconds:
        before === undefined || after === undefined ? undefined : ((after - before) / Math.max(1, total)) * 1e6,
      ...(answerBytes === undefined ? {} : { answerBytes }),
    }
    this.#row(scenario, size, name, measured)
    return measured
  }

  #memory(scenario: Scenario, target: Target, name: TargetName, size: number): void {
    if (!this.#wants('memory') || target.process === undefined) return
    const resident = residentBytes(target.process)
    if (resident !== undefined) this.#row(scenario, size, name, { value: resident.peak, unit: 'bytes' })
  }
}

/** A run: starts servers one after the other, gives each its objects, measures. A stage that fails does not end the others. */
import path from 'node:path'
import { AIM_SIZE, MEMORY_SIZES } from './aims.js'
import { measureCold } from './cold.js'
import { measureControllers } from './controllers.js'
import { DEFINITIONS, measureCustom, OBJECTS } from './custom.js'
import { Measure, type MeasureOptions, type Subject } from './measure.js'
import { Progress } from './progress.js'
import type { TargetName } from './results.js'
import { hasEtcd, type StartedKeelson, startEtcd, startKeelson, stop, type Target } from './servers.js'
import { cleanUp, fill, prepare } from './workload.js'

export interface RunOptions extends MeasureOptions {
  /** Ascending: objects are added. */
  readonly sizes: readonly number[]
  readonly storage: ReadonlySet<string>
  readonly flags: readonly string[]
  readonly peer: Target | undefined
}

interface Stage {
  readonly name: string
  readonly isWanted: boolean
  readonly work: () => Promise<void>
}

const STARTS = 3

export class Run {
  readonly #options: RunOptions
  readonly #progress: Progress
  readonly #measure: Measure
  readonly #stages: readonly Stage[]

  constructor(options: RunOptions) {
    this.#options = options
    const { storage, peer } = options
    const wants = (...parts: string[]): boolean => parts.some((part) => options.only.has(part))
    const [embedded, onEtcd] = [storage.has('embedded'), storage.has('etcd') && hasEtcd]
    const isLoad = wants('get', 'list', 'watch', 'create', 'policies', 'webhooks', 'memory')
    const bySize = wants('get', 'list', 'memory', 'start')
    const cold = (target: TargetName) => async () => this.#cold(target)
    this.#stages = [
      { name: 'starts', isWanted: embedded && wants('start', 'memory'), work: () => this.#starts() },
      { name: 'cold, embedded', isWanted: embedded && wants('cold'), work: cold('keelson') },
      { name: 'cold, on etcd', isWanted: onEtcd && wants('cold'), work: cold('keelson-etcd') },
      { name: 'embedded', isWanted: embedded && isLoad, work: () => this.#embedded() },
      { name: 'on etcd', isWanted: onEtcd && (isLoad || wants('start')), work: () => this.#etcd() },
      { name: "Node's own engine", isWanted: embedded && wants('engines'), work: () => this.#nodeEngine() },
      { name: 'sizes', isWanted: embedded && bySize, work: () => this.#sizes() },
      { name: 'custom resources', isWanted: embedded && wants('custom'), work: () => this.#custom() },
      { name: 'controllers', isWanted: embedded && wants('controllers'), work: () => this.#controllers() },
      { name: 'the other server', isWanted: peer !== undefined, work: () => this.#other(peer!) },
    ].filter(({ isWanted }) => isWanted)
    this.#progress = new Progress(this.#stages.length)
    this.#measure = new Measure(options, this.#progress)
  }

  /** False when a stage failed. */
  async all(): Promise<boolean> {
    let isWhole = true
    for (const { name, work } of this.#stages) {
      this.#progress.stage(name)
      try {
        await work()
      } catch (error) {
        isWhole = false
        this.#progress.say(`bench: ${name}: ${error instanceof Error ? error.stack : String(error)}`)
      }
    }
    this.#progress.end()
    return isWhole
  }

  /** A server with its files in a folder of this run. */
  #start(name: string, more: readonly string[] = []): Promise<StartedKeelson> {
    const folder = path.join(this.#options.folder, name)
    return startKeelson(folder, [`--data-dir=${folder}/data`, ...more, ...this.#options.flags])
  }

  async #with(started: Promise<StartedKeelson>, work: (keelson: StartedKeelson) => Promise<void>): Promise<void> {
    const keelson = await started
    try {
      await work(keelson)
    } finally {
      await stop(keelson.process)
    }
  }

  async #starts(): Promise<void> {
    if (this.#measure.isKnown('keelson', 0, 'ready', 'memory-empty')) return
    const times: number[] = []
    for (let i = 0; i < STARTS; i++)
      await this.#with(this.#start(`start-${i}`), async (keelson) => {
        times.push(keelson.readyMs)
        if (i === 0) await this.#measure.memory('memory-empty', { target: keelson, name: 'keelson', size: 0 })
      })
    const value = times.sort((a, b) => a - b)[Math.floor(STARTS / 2)]!
    if (this.#measure.wants('start')) this.#measure.row('ready', 0, 'keelson', { value, unit: 'ms' })
  }

  /** Every start is one of a server that has nothing: on etcd each has a prefix of its own. */
  async #cold(target: TargetName): Promise<void> {
    if (this.#measure.isKnown(target, 0, 'first-create', 'create-first-1000', 'create-fourth-1000')) return
    const { folder, flags } = this.#options
    const measure = (more: (name: string) => readonly string[]): Promise<void> => {
      const start = (name: string): Promise<StartedKeelson> =>
        startKeelson(path.join(folder, `${target}-${name}`), [...more(name), ...flags])
      return measureCold(start, (scenario, figure) => this.#measure.row(scenario, 0, target, figure))
    }
    if (target === 'keelson') return measure((name) => [`--data-dir=${folder}/keelson-${name}/data`])
    const etcd = await startEtcd(path.join(folder, 'cold-etcd'))
    try {
      await measure((name) => [`--etcd-servers=${etcd.endpoint}`, `--etcd-prefix=/${name}`])
    } finally {
      await stop(etcd.process)
    }
  }

  async #embedded(): Promise<void> {
    const size = this.#aimSize
    await this.#with(this.#start('embedded'), (keelson) =>
      this.#load({ target: keelson, name: 'keelson', size, beside: keelson }),
    )
  }

  /** On a server of its own: what creations leave behind is not what other sizes are about. */
  async #sizes(): Promise<void> {
    const { sizes } = this.#options
    const largest = sizes.at(-1)!
    const looked = this.#measure.wants('memory') ? MEMORY_SIZES.filter((size) => size < largest) : []
    const all = [...new Set([...sizes.filter((size) => size !== this.#aimSize), ...looked])].sort((a, b) => a - b)
    if (all.length === 0) return
    await this.#with(this.#start('sizes'), async (keelson) => {
      await prepare(keelson)
      for (const size of all) {
        this.#progress.step(`${size} pods`)
        await fill(keelson, size)
        const subject: Subject = { target: keelson, name: 'keelson', size, beside: keelson }
        await this.#measure.memory('memory', subject)
        if (sizes.includes(size)) await this.#measure.reads(subject)
      }
    })
    const [size, name] = [all.at(-1)!, 'keelson'] as const
    await this.#with(this.#start('sizes'), async (keelson) => {
      if (this.#measure.wants('start')) this.#measure.row('restart', size, name, { value: keelson.readyMs, unit: 'ms' })
      await this.#measure.memory('memory-restart', { target: keelson, name, size })
    })
  }

  async #nodeEngine(): Promise<void> {
    const size = this.#aimSize
    await this.#with(this.#start('engine', ['--http-engine=node']), async (keelson) => {
      await prepare(keelson)
      await fill(keelson, size)
      await this.#measure.engineReads(keelson, size)
    })
  }

  /** On a server of its own: memory is what this is about. */
  async #custom(): Promise<void> {
    if (
      this.#measure.isKnown('keelson', DEFINITIONS.at(-1)!, 'definitions', 'definitions-memory') &&
      this.#measure.isKnown('keelson', OBJECTS, 'custom-create', 'custom-memory', 'custom-list')
    )
      return
    await this.#with(this.#start('custom'), (keelson) =>
      measureCustom(keelson, (scenario, size, figure) => this.#measure.row(scenario, size, 'keelson', figure)),
    )
  }

  async #controllers(): Promise<void> {
    const { folder, flags } = this.#options
    if (this.#measure.isKnown('keelson', 0, 'controllers-idle', 'controllers-memory')) return
    await measureControllers(folder, flags, (scenario, size, figure) =>
      this.#measure.row(scenario, size, 'keelson', figure),
    )
  }

  async #etcd(): Promise<void> {
    const folder = path.join(this.#options.folder, 'etcd')
    const etcd = await startEtcd(path.join(folder, 'member'))
    try {
      const started = startKeelson(folder, [`--etcd-servers=${etcd.endpoint}`, ...this.#options.flags])
      await this.#with(started, async (keelson) => {
        const name = 'keelson-etcd'
        if (this.#measure.wants('start')) this.#measure.row('ready', 0, name, { value: keelson.readyMs, unit: 'ms' })
        await this.#load({ target: keelson, name, size: this.#aimSize, etcd: etcd.endpoint })
      })
    } finally {
      await stop(etcd.process)
    }
  }

  async #other(peer: Target): Promise<void> {
    try {
      await this.#load({ target: peer, name: 'peer', size: this.#aimSize })
    } finally {
      await cleanUp(peer)
    }
  }

  /** Everything. Beside others one size is enough: what depends on the number of objects is seen on the engine. */
  async #load(subject: Subject): Promise<void> {
    await prepare(subject.target)
    await fill(subject.target, subject.size)
    await this.#measure.reads(subject)
    await this.#measure.watches(subject)
    await this.#measure.creations(subject)
    await this.#measure.memory('memory-load', subject)
    await this.#measure.policies(subject)
    await this.#measure.webhook(subject)
  }

  /** The size that the aims speak of, or the nearest that is measured. */
  get #aimSize(): number {
    const { sizes } = this.#options
    return sizes.includes(AIM_SIZE) ? AIM_SIZE : sizes[0]!
  }
}

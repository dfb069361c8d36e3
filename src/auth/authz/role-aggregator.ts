/**
 * Thread: main. Keeps aggregated cluster roles filled while the server runs: after each change of a cluster role the ones
 * that gather are computed again, and written when they differ. One round at a time; what changes meanwhile is seen by the
 * next. Peers on one etcd do the same, and find nothing to do.
 */
import { ArenaFollower } from '../../cacher/read/arena-follower.js'
import type { Logger } from '../../lib/logger.js'
import { type AggregatableRole, aggregatableRole, aggregate } from './aggregation.js'
import type { PolicyRule } from './policy-rule.js'
import { type CacheSource, RBAC_GROUP } from './rbac-index.js'

export interface RoleAggregatorOptions {
  readonly cache: CacheSource
  readonly logger: Logger
  /** Stores the rules of one role; throws what it may, it is tried again after the next change. */
  write(name: string, rules: readonly PolicyRule[]): Promise<void>
}

export class RoleAggregator {
  readonly #options: RoleAggregatorOptions
  readonly #roles = new Map<string, AggregatableRole>()
  readonly #follower: ArenaFollower
  #stop: (() => void) | undefined
  #round: Promise<void> | undefined
  #changed = false

  constructor(options: RoleAggregatorOptions) {
    this.#options = options
    this.#follower = new ArenaFollower(options.cache(`clusterroles.${RBAC_GROUP}`), {
      reset: () => {
        this.#roles.clear()
        this.#changed = true
      },
      put: (record) => {
        this.#roles.set(record.key, aggregatableRole(JSON.parse(Buffer.from(record.body()).toString())))
        this.#changed = true
      },
      delete: (record) => {
        this.#roles.delete(record.key)
        this.#changed = true
      },
    })
  }

  start(): void {
    this.#stop ??= this.#follower.follow(() => this.#look())
    this.#follower.sync()
    this.#look()
  }

  async stop(): Promise<void> {
    this.#stop?.()
    this.#stop = undefined
    await this.#round
  }

  #look(): void {
    if (!this.#changed || this.#round !== undefined) return
    this.#round = this.#run().finally(() => {
      this.#round = undefined
      if (this.#stop !== undefined) this.#look()
    })
  }

  async #run(): Promise<void> {
    this.#changed = false
    for (const [name, rules] of aggregate([...this.#roles.values()])) {
      try {
        await this.#options.write(name, rules)
      } catch (error) {
        this.#options.logger.warn({ err: error, clusterRole: name }, 'could not fill an aggregated cluster role')
      }
    }
  }
}

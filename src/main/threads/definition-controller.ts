/**
 * Thread: main. Follows the CustomResourceDefinitions in shared memory, whichever server stored them, and has the pool
 * settle each one that changed. Definitions of one group are settled one after another, since they compete for names.
 * The registrar tells every thread of the outcome. A definition that is being deleted is served until its objects are
 * gone.
 *
 *   waiting ──a definition changed──▶ settling ──served, changed or not served──▶ registrar
 *                                        └──its deletion has begun──▶ finalizing ──objects are left──▶ (again, later)
 */

import type { RecordView } from '../../cacher/memory/shared-memory.js'
import { ArenaFollower, type ArenaSink } from '../../cacher/read/arena-follower.js'
import type { CacheClient } from '../../cacher/read/cache-client.js'
import type { Clock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { SettledDefinition } from '../../protocol/main-pool.js'
import type { PoolRunner } from './pool.js'
import type { ResourceRegistrar } from './resource-registrar.js'

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'
/** So many groups are settled at the same time. */
const GROUPS_AT_ONCE = 4
/**
 * The most attempts to settle a definition in a row. Each fails only when another server was faster, and there are
 * fewer servers than this.
 */
const ATTEMPTS = 16
const RETRY_MS = 1_000
const FINALIZE_AGAIN_MS = 1_000

type Settled = Extract<SettledDefinition, { state: 'settled' }>

interface Known {
  readonly settled: Settled
}

export interface DefinitionControllerOptions {
  readonly cache: Pick<CacheClient, 'resource'>
  readonly pool: PoolRunner
  readonly resources: ResourceRegistrar
  readonly clock: Clock
  readonly logger: Logger
}

export class DefinitionController {
  readonly #options: DefinitionControllerOptions
  readonly #known = new Map<string, Known>()
  /** The names of definitions that wait to be settled, by group. */
  readonly #waiting = new Map<string, Set<string>>()
  readonly #busy = new Map<string, Promise<void>>()
  readonly #finalizing = new Map<string, Promise<void>>()
  #seen = new Set<string>()
  #stopFollowing: () => void = () => undefined
  #stopped = false

  constructor(options: DefinitionControllerOptions) {
    this.#options = options
  }

  /** Resolves when all definitions that were stored at the start are settled. */
  async start(): Promise<void> {
    const view = this.#options.cache.resource(DEFINITIONS)
    const follower = new ArenaFollower(view, this.#sink())
    follower.sync()
    this.#stopFollowing = follower.follow(() => this.#work())
    this.#work()
    while (this.#busy.size > 0) await Promise.all(this.#busy.values())
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#stopFollowing()
    await Promise.allSettled([...this.#busy.values(), ...this.#finalizing.values()])
  }

  #sink(): ArenaSink {
    const nameOf = ({ key }: RecordView): string => key.slice(key.lastIndexOf('/') + 1)
    return {
      reset: () => {
        // Every definition is looked at again: those that the new state lacks are gone.
        for (const name of this.#seen) this.#add(name)
        this.#seen = new Set()
      },
      put: (record) => {
        const name = nameOf(record)
        this.#seen.add(name)
        this.#add(name)
      },
      delete: (record) => {
        const name = nameOf(record)
        this.#seen.delete(name)
        this.#add(name)
      },
    }
  }

  #add(name: string): void {
    const group = groupOf(name)
    const names = this.#waiting.get(group) ?? new Set()
    this.#waiting.set(group, names.add(name))
  }

  #work(): void {
    if (this.#stopped) return
    for (const group of this.#waiting.keys()) {
      if (this.#busy.size >= GROUPS_AT_ONCE) return
      if (this.#busy.has(group)) continue
      const work = this.#settleGroup(group).finally(() => {
        this.#busy.delete(group)
        this.#work()
      })
      this.#busy.set(group, work)
    }
  }

  async #settleGroup(group: string): Promise<void> {
    for (;;) {
      const names = this.#waiting.get(group)
      const [name] = names ?? []
      if (name === undefined || this.#stopped) break
      names!.delete(name)
      try {
        await this.#settle(name, group)
      } catch (error) {
        if (this.#stopped) break
        this.#options.logger.warn(
          { err: error, definition: name },
          'a definition could not be settled; it is tried again',
        )
        this.#later(name, RETRY_MS)
      }
    }
    if (this.#waiting.get(group)?.size === 0) this.#waiting.delete(group)
  }

  async #settle(name: string, group: string): Promise<void> {
    const { resources } = this.#options
    const before = this.#known.get(name)?.settled
    const settled = await this.#settled(name, group)
    if (settled.state === 'again') {
      this.#add(name)
      return
    }
    if (settled.state === 'gone') {
      this.#known.delete(name)
      if (before?.resource !== undefined) await resources.remove(before.resource)
      this.#addOthers(name, group)
      return
    }
    this.#known.set(name, { settled })
    if (settled.key !== before?.key) await this.#serve(before, settled)
    if (before === undefined || String(before.names.resources) !== String(settled.names.resources))
      this.#addUnsettled(name, group)
    if (settled.finalizes) this.#finalize(name)
  }

  /**
   * Settles one definition. It tries again at once when another server was faster: a definition that was stored later
   * must not be settled first, or two servers could give one name to two definitions.
   */
  async #settled(name: string, group: string): Promise<SettledDefinition> {
    const taken = this.#taken(name, group)
    for (let attempt = 1; ; attempt++) {
      const settled = await this.#options.pool.run('settleDefinition', { name, taken })
      if (settled.state !== 'again' || attempt === ATTEMPTS || this.#stopped) return settled
    }
  }

  async #serve(before: Settled | undefined, { resource }: Settled): Promise<void> {
    const { resources } = this.#options
    if (resource !== undefined) await resources.set(resource)
    else if (before?.resource !== undefined) await resources.remove(before.resource)
  }

  /** Settles the other definitions of the group again, because the names of a deleted definition are free for them. */
  #addOthers(name: string, group: string): void {
    for (const other of this.#known.keys()) if (other !== name && groupOf(other) === group) this.#add(other)
  }

  /**
   * Settles the definitions of the group that are not served again, because they may get names that this one has given
   * up.
   */
  #addUnsettled(name: string, group: string): void {
    for (const [other, { settled }] of this.#known)
      if (other !== name && groupOf(other) === group && settled.resource === undefined) this.#add(other)
  }

  #taken(name: string, group: string): Settled['names'] {
    const taken = { resources: [] as string[], kinds: [] as string[] }
    for (const [other, { settled }] of this.#known) {
      if (other === name || groupOf(other) !== group) continue
      taken.resources.push(...settled.names.resources)
      taken.kinds.push(...settled.names.kinds)
    }
    return taken
  }

  #finalize(name: string): void {
    if (this.#finalizing.has(name) || this.#stopped) return
    const { pool, logger } = this.#options
    const work = pool
      .run('finalizeDefinition', { name })
      .catch((error: unknown) => {
        if (!this.#stopped)
          logger.warn({ err: error, definition: name }, 'the objects of a definition could not be deleted')
        return 'later' as const
      })
      .then((outcome) => {
        this.#finalizing.delete(name)
        if (outcome === 'later') this.#later(name, FINALIZE_AGAIN_MS)
      })
    this.#finalizing.set(name, work)
  }

  #later(name: string, delayMs: number): void {
    this.#options.clock.after(delayMs, () => {
      this.#add(name)
      this.#work()
    })
  }
}

const groupOf = (name: string): string => name.slice(name.indexOf('.') + 1)

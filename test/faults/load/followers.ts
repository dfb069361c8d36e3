/** The steps of clients that read: lists of all kinds, watches that come and go, and one a server that stays. */

import { pause } from '../../attack/attack.js'
import type { Random } from '../../support/fuzz.js'
import type { ServerAddress } from './http-exchange.js'
import { listObjects, type WatchOptions, WatchReader } from './readers.js'
import type { Recorder } from './recorder.js'
import { type LoadResource, prefixOf } from './resources.js'

export interface Collection {
  readonly resource: LoadResource
  readonly namespace: string
}

export function listStep(server: ServerAddress, recorder: Recorder, collections: readonly Collection[]) {
  return async (random: Random): Promise<void> => {
    const collection = random.pick(collections)
    const kind = random.below(10)
    const limit = random.chance(50) ? { limit: 1 + random.below(6) } : {}
    const past = Math.max(recorder.oldest, recorder.newest - random.below(200))
    if (kind < 5) await listObjects(server, recorder, { ...collection, match: 'fresh', ...limit })
    else if (kind < 7) await listObjects(server, recorder, { ...collection, match: 'at-least', asked: 0 })
    else if (kind < 8) await listObjects(server, recorder, { ...collection, match: 'at-least', asked: recorder.newest })
    else await listObjects(server, recorder, { ...collection, match: 'exact', asked: past, ...limit })
  }
}

/** A watch for a moment, from anywhere; often it is gone on with from where it was, at this server or another. */
export function watchStep(
  servers: readonly ServerAddress[],
  recorder: Recorder,
  collections: readonly Collection[],
  signal: AbortSignal,
) {
  let reached: number | undefined
  let collection = collections[0]!
  return async (random: Random): Promise<void> => {
    const isResumed = reached !== undefined && random.chance(60)
    if (!isResumed) collection = random.pick(collections)
    const start = isResumed ? { from: reached! } : startingPoint(random, recorder)
    const reader = new WatchReader(random.pick(servers), recorder, { ...collection, ...start })
    await Promise.race([pause(100 + random.below(1500), signal), reader.ended])
    await reader.close()
    reached = reader.expired ? undefined : reader.reached
  }
}

function startingPoint(random: Random, { newest, oldest }: Recorder): Omit<WatchOptions, 'resource' | 'namespace'> {
  const kind = random.below(6)
  if (kind === 0) return {}
  if (kind === 1) return { from: 0 }
  if (kind === 2) return { initial: true }
  if (kind === 3) return { initial: true, from: newest }
  return { from: Math.max(oldest, newest - random.below(300)) }
}

/** Follows a collection from before the beginning to after the end, through every cut, as an informer does. */
export class Follower {
  readonly #server: ServerAddress
  readonly #recorder: Recorder
  readonly #collection: Collection
  #reader: WatchReader | undefined
  #reached: number
  #running: Promise<void> | undefined
  #stopped = false
  /** How often it had to list again because the server had forgotten where it was. */
  relists = 0

  constructor(server: ServerAddress, recorder: Recorder, collection: Collection, from: number) {
    this.#server = server
    this.#recorder = recorder
    this.#collection = collection
    this.#reached = from
  }

  isOf(prefix: string): boolean {
    return prefix === prefixOf(this.#collection.resource, this.#collection.namespace)
  }

  get reached(): number {
    return Math.max(this.#reached, this.#reader?.reached ?? 0)
  }

  start(signal: AbortSignal): void {
    this.#running = this.#follow(signal)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#reader !== undefined) this.#reader.awaited = true
    await this.#reader?.close()
    await this.#running
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!this.#stopped) {
      this.#reader = new WatchReader(this.#server, this.#recorder, { ...this.#collection, from: this.#reached })
      await this.#reader.ended
      this.#reached = this.reached
      if (this.#reader.expired) {
        this.relists++
        this.#reached =
          (await listObjects(this.#server, this.#recorder, { ...this.#collection, match: 'fresh' })) ?? this.#reached
      }
      // Whoever was told nothing asks a server that is down: not fifty times a second.
      if (!this.#stopped) await pause(this.#reader.isEmpty ? 250 : 20, signal)
    }
  }
}

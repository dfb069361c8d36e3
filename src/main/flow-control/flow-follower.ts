/** Thread: any but the owner. Keeps the flow controller at what is stored, from shared memory. */

import type { RecordView } from '../../cacher/memory/shared-memory.js'
import { ArenaFollower, type ArenaSink, type StaleListener } from '../../cacher/read/arena-follower.js'
import type { CacheClient } from '../../cacher/read/cache-client.js'
import type { FlowSchema, PriorityLevelConfiguration } from './configuration.js'

const GROUP = 'flowcontrol.apiserver.k8s.io'
export const FLOW_SCHEMAS = `flowschemas.${GROUP}`
export const PRIORITY_LEVELS = `prioritylevelconfigurations.${GROUP}`

class ObjectSink<T> implements ArenaSink {
  readonly objects = new Map<string, T>()
  changed = true

  reset(): void {
    this.objects.clear()
    this.changed = true
  }

  put(record: RecordView): void {
    this.objects.set(record.key, JSON.parse(Buffer.from(record.body()).toString()) as T)
    this.changed = true
  }

  delete(record: RecordView): void {
    this.objects.delete(record.key)
    this.changed = true
  }
}

export interface FlowObjects {
  readonly levels: readonly PriorityLevelConfiguration[]
  readonly schemas: readonly FlowSchema[]
}

export class FlowFollower {
  readonly #levels = new ObjectSink<PriorityLevelConfiguration>()
  readonly #schemas = new ObjectSink<FlowSchema>()
  readonly #followers: readonly ArenaFollower[]
  readonly #onChange: (objects: FlowObjects) => void
  #stops: (() => void)[] = []

  constructor(
    cache: Pick<CacheClient, 'resource'>,
    onChange: (objects: FlowObjects) => void,
    onStale: StaleListener = () => undefined,
  ) {
    this.#onChange = onChange
    const follow = (resource: string, sink: ArenaSink): ArenaFollower =>
      new ArenaFollower(cache.resource(resource), sink, (stale) => onStale(resource, stale))
    this.#followers = [follow(PRIORITY_LEVELS, this.#levels), follow(FLOW_SCHEMAS, this.#schemas)]
  }

  /** Gives the controller everything as of now, and whatever changes from now on. */
  start(): void {
    for (const follower of this.#followers) follower.sync()
    this.#tell()
    this.#stops = this.#followers.map((follower) => follower.follow(() => this.#tell()))
  }

  stop(): void {
    for (const stop of this.#stops) stop()
    this.#stops = []
  }

  #tell(): void {
    if (!this.#levels.changed && !this.#schemas.changed) return
    this.#levels.changed = false
    this.#schemas.changed = false
    this.#onChange({ levels: [...this.#levels.objects.values()], schemas: [...this.#schemas.objects.values()] })
  }
}

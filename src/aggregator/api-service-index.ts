/**
 * Thread: any but the owner. The APIServices of other servers, by group and version, kept equal to shared memory. A server without
 * any pays one comparison a request.
 */
import type { APIService } from '../api/generated/kinds/apiregistration.v1.js'
import type { RecordView } from '../cacher/memory/shared-memory.js'
import { ArenaFollower, type ArenaSink, type FollowedView } from '../cacher/read/arena-follower.js'
import { type RemoteService, remoteService } from './api-service.js'

export const API_SERVICES = 'apiservices.apiregistration.k8s.io'

export class APIServiceIndex implements ArenaSink {
  readonly #follower: ArenaFollower
  readonly #byKey = new Map<string, RemoteService>()
  readonly #byVersion = new Map<string, RemoteService>()
  readonly #listeners: (() => void)[] = []
  #changed = false
  #stop: (() => void) | undefined

  constructor(view: FollowedView, onStale?: (stale: boolean) => void) {
    this.#follower = new ArenaFollower(view, this, onStale)
  }

  start(): void {
    this.#follower.sync()
    this.#tell()
    this.#stop = this.#follower.follow(() => this.#tell())
  }

  stop(): void {
    this.#stop?.()
  }

  /** The server of a version of a group, when it is another one. */
  find(group: string, version: string): RemoteService | undefined {
    return this.#byVersion.size === 0 ? undefined : this.#byVersion.get(`${group}/${version}`)
  }

  get all(): readonly RemoteService[] {
    return [...this.#byVersion.values()]
  }

  /** The listener is called after anything has changed, in the turn that brought it. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  reset(): void {
    this.#byKey.clear()
    this.#byVersion.clear()
    this.#changed = true
  }

  put(record: RecordView): void {
    const found = remoteService(JSON.parse(Buffer.from(record.body()).toString()) as APIService)
    this.delete(record)
    if (found === undefined) return
    this.#changed = true
    this.#byKey.set(record.key, found)
    this.#byVersion.set(`${found.group}/${found.version}`, found)
  }

  delete({ key }: Pick<RecordView, 'key'>): void {
    const before = this.#byKey.get(key)
    if (before === undefined) return
    this.#byKey.delete(key)
    this.#byVersion.delete(`${before.group}/${before.version}`)
    this.#changed = true
  }

  #tell(): void {
    if (!this.#changed) return
    this.#changed = false
    for (const listener of this.#listeners) listener()
  }
}

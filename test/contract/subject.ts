import type { Storage, WatchEvent, WatchStream } from '#keelson/storage/contract/interface.js'
import type { KV } from '#keelson/storage/contract/kv.js'
import type { KvReads } from '../support/counting-kv.js'
import type { PrefixTransformer } from '../support/prefix-transformer.js'
import { type ListFields, listOptions, type Pod, podKey } from './pod.js'

/** One implementation of Storage. */
export interface Harness {
  readonly name: string
  /** A cacher may serve what it has in memory where Kubernetes lets it; a store always asks the key-value store. */
  readonly cached: boolean
  /** Why it cannot run here. */
  readonly skip?: string | false
  /** Behaviours that have no meaning here, by title, and why. */
  readonly without?: Readonly<Record<string, string>>
  /** Behaviours that fail here for a reason that is known, by title; each must go on failing, or be taken out of this. */
  readonly failing?: Readonly<Record<string, string>>
  /** A storage of its own, empty: others on the same engine do not see it. */
  open(scope: Scope): Promise<Opened>
  /** Once, after the last behaviour. */
  close(): Promise<void>
}

/** Whether a behaviour's objects lie in namespaces; to a server these are two resources. */
export type Scope = 'namespaces' | 'cluster'

export interface Opened {
  readonly storage: Storage<Pod>
  /** The engine below, uncounted and unguarded. */
  readonly kv: Pick<KV, 'get' | 'optimisticPut' | 'compact' | 'currentRevision'>
  /** Reads that the storage made of its engine. */
  readonly reads: KvReads
  readonly transformer: PrefixTransformer
  /** `/registry` or the like. */
  readonly pathPrefix: string
  /** Lets time pass where time is a fake, until what was given `seconds` to live may be gone. */
  passTime(seconds: number): Promise<void>
  /** Whether the engine reports progress when it is asked: etcd before 3.4.25 does so too early and is not asked. */
  progressOnDemand(): Promise<boolean>
  /** The wall clock that the storage goes by. */
  now(): number
  close(): Promise<void>
}

const encoder = new TextEncoder()

/** What a behaviour works on. */
export class Subject {
  readonly storage: Storage<Pod>
  readonly cached: boolean
  readonly opened: Opened
  #watches: WatchStream<Pod>[] = []

  constructor(harness: Harness, opened: Opened) {
    this.storage = opened.storage
    this.cached = harness.cached
    this.opened = opened
  }

  create(pod: Pod, ttlSeconds?: number): Promise<Pod> {
    return this.storage.create(podKey(pod), structuredClone(pod), ttlSeconds === undefined ? {} : { ttlSeconds })
  }

  /** One after the other, so that their versions ascend. */
  async createAll(pods: readonly Pod[]): Promise<Pod[]> {
    const created: Pod[] = []
    for (const pod of pods) created.push(await this.create(pod))
    return created
  }

  /** Sets labels, leaving the rest. */
  label(pod: Pod, labels: Record<string, string>): Promise<Pod> {
    return this.storage.guaranteedUpdate(podKey(pod), (current) => ({
      object: { ...current, metadata: { ...current.metadata, labels } },
    }))
  }

  list(key: string, fields: ListFields = {}) {
    return this.storage.getList(key, listOptions(fields))
  }

  /** Stopped at the end of the behaviour. */
  async watch(key: string, fields: ListFields = {}): Promise<Watching> {
    const stream = await this.storage.watch(key, listOptions(fields))
    this.#watches.push(stream)
    return new Watching(stream)
  }

  /** The store's key of a key of the contract. */
  storedKey(key: string): string {
    return this.opened.pathPrefix + key
  }

  /** Writes past the storage, as another process would. */
  async writeRaw(key: string, value: string | Uint8Array): Promise<number> {
    const { kv } = this.opened
    const storedKey = this.storedKey(key)
    const current = await kv.get(storedKey)
    const bytes = typeof value === 'string' ? encoder.encode(value) : value
    const result = await kv.optimisticPut(storedKey, bytes, current.kv?.modRevision ?? 0)
    if (!result.succeeded) throw new Error(`somebody else wrote ${storedKey}`)
    return result.revision
  }

  /** Moves the store's revision by a write to another resource; gives the new one. */
  async increaseRevision(): Promise<number> {
    return this.writeRaw('/others/counter', String(performance.now()))
  }

  /** The same by a write outside everything that belongs to the storage. */
  async increaseRevisionOutside(): Promise<number> {
    const { kv } = this.opened
    const key = '/elsewhere/counter'
    const current = await kv.get(key)
    const result = await kv.optimisticPut(key, encoder.encode('x'), current.kv?.modRevision ?? 0)
    return result.revision
  }

  /** Compacts below the newest revision, so that nothing older can be read from the engine. */
  async compactAll(): Promise<number> {
    const revision = await this.increaseRevision()
    await this.opened.kv.compact(revision)
    return revision
  }

  /** Waits until a storage that follows its engine has seen this version. */
  async seen(resourceVersion: number): Promise<void> {
    await this.list('/pods/', { resourceVersion: String(resourceVersion), resourceVersionMatch: 'NotOlderThan' })
  }

  async close(): Promise<void> {
    for (const watch of this.#watches) watch.stop()
    await this.opened.close()
  }
}

type ObjectEvent = Extract<WatchEvent<Pod>, { object: Pod }>

/** A watch, read event by event. */
export class Watching {
  readonly stream: WatchStream<Pod>

  constructor(stream: WatchStream<Pod>) {
    this.stream = stream
  }

  async next(): Promise<WatchEvent<Pod>> {
    const result = await this.stream.next()
    if (result.done) throw new Error('the watch ended')
    return result.value
  }

  /** The next event about an object; bookmarks are passed over. */
  async nextObject(): Promise<ObjectEvent> {
    for (;;) {
      const event = await this.next()
      if (event.type === 'ERROR') throw event.error
      if (event.type !== 'BOOKMARK') return event
    }
  }

  async take(count: number): Promise<ObjectEvent[]> {
    const events: ObjectEvent[] = []
    while (events.length < count) events.push(await this.nextObject())
    return events
  }

  /** `TYPE name@version` of the next events about objects. */
  async summary(count: number): Promise<string[]> {
    return (await this.take(count)).map(summarize)
  }

  /** Passes over objects. */
  async nextBookmark(): Promise<Extract<WatchEvent<Pod>, { type: 'BOOKMARK' }>> {
    for (;;) {
      const event = await this.next()
      if (event.type === 'ERROR') throw event.error
      if (event.type === 'BOOKMARK') return event
    }
  }

  async nextError(): Promise<Error> {
    for (;;) {
      const event = await this.next()
      if (event.type === 'ERROR') return event.error
    }
  }

  async ended(): Promise<boolean> {
    return (await this.stream.next()).done === true
  }

  stop(): void {
    this.stream.stop()
  }
}

export function summarize(event: WatchEvent<Pod>): string {
  switch (event.type) {
    case 'ERROR':
      return `ERROR ${event.error.message}`
    case 'BOOKMARK':
      return `BOOKMARK @${event.resourceVersion}`
    default:
      return `${event.type} ${event.object.metadata?.name}@${event.object.metadata?.resourceVersion}`
  }
}

import { CacherMetrics } from '#keelson/cacher/feed/cacher-metrics.js'
import { Reflector } from '#keelson/cacher/feed/reflector.js'
import type { ResourceRegistration, ResourceStatus } from '#keelson/cacher/feed/resource-registration.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { noRecorder } from '#keelson/metrics/recorder.js'
import { identityTransformer } from '#keelson/storage/contract/transformer.js'
import { FakeClock } from '../../support/fake-clock.js'
import { MemoryArena, MemoryClock } from '../../support/memory-arena.js'
import { MemoryKV } from '../../support/memory-kv.js'
import { jsonDraft } from '../../support/plain-object.js'
import { until } from '../../support/until.js'
import { GatedKV } from './gated-kv.js'

export const bytes = (text: string): Uint8Array => Buffer.from(text)
export const object = (name: string, note = ''): Uint8Array => bytes(JSON.stringify({ metadata: { name }, note }))

/** A reflector over a store in memory, with a clock that stands still. */
export class ReflectorFixture {
  readonly clock = new FakeClock()
  readonly memoryKv = new MemoryKV(this.clock)
  readonly kv = new GatedKV(this.memoryKv)
  readonly revisionClock = new MemoryClock()
  readonly statuses: [string, ResourceStatus['state']][] = []
  readonly reflector = new Reflector({
    kv: this.kv,
    prefix: '/registry/',
    revisionClock: this.revisionClock,
    clock: this.clock,
    logger: nullLogger,
    random: () => 0.5,
    pageSize: 2,
    metrics: new CacherMetrics(noRecorder()),
    onStatus: (resource, status) => this.statuses.push([resource, status.state]),
  })
  readonly arenas = new Map<string, MemoryArena>()

  constructor(t: { teardown(work: () => Promise<void>): void }) {
    t.teardown(() => this.reflector.stop())
  }

  registration(
    resource: string,
    fields: Partial<ResourceRegistration> = {},
    maxObjects?: number,
  ): ResourceRegistration {
    return {
      resource,
      keyPrefix: `/registry/${resource}/`,
      createArena: () => {
        const arena = new MemoryArena(this.revisionClock, maxObjects === undefined ? {} : { maxObjects })
        this.arenas.set(resource, arena)
        return arena
      },
      transformer: identityTransformer,
      recordDraft: jsonDraft,
      ...fields,
    }
  }

  async put(key: string, value: Uint8Array): Promise<number> {
    const { kv } = await this.memoryKv.get(key)
    return (await this.memoryKv.optimisticPut(key, value, kv?.modRevision ?? 0)).revision
  }

  async delete(key: string): Promise<number> {
    const { kv } = await this.memoryKv.get(key)
    return (await this.memoryKv.optimisticDelete(key, kv!.modRevision)).revision
  }

  keys(resource: string): string[] {
    const keys: string[] = []
    const snapshot = this.arenas.get(resource)!.snapshot()
    snapshot.scan('', '\uffff', (record) => {
      keys.push(record.key)
      return undefined
    })
    snapshot.release()
    return keys
  }

  state(resource: string): string | undefined {
    return this.reflector.status(resource)?.state
  }

  async applied(revision: number): Promise<void> {
    await this.revisionClock.reached(revision)
  }

  /** Lets pauses of the reflector pass until the condition holds. */
  async eventually(condition: () => boolean, what: string): Promise<void> {
    await until(
      async () => {
        if (condition()) return true
        await this.clock.advance(100)
        return condition()
      },
      { what },
    )
  }
}

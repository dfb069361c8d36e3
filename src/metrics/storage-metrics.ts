/** Thread: main. What the owner tells of storage and cache, as metrics: kube-apiserver's names where it has one. */
import { Counter, Gauge, type Registry } from 'prom-client'
import { parseGroupResource } from '../api/group-version.js'
import type { OwnerEvent, ResourceMemory } from '../protocol/main-owner.js'

const BY_RESOURCE = ['group', 'resource'] as const

export class StorageMetrics {
  readonly #objectCounts: Gauge<'resource'>
  readonly #objects: Gauge<'group' | 'resource'>
  readonly #sizes: Gauge<'endpoint'>
  readonly #bytes: Gauge<'group' | 'resource'>
  readonly #ready: Gauge<'group' | 'resource'>
  readonly #fallbacks: Counter<'group' | 'resource' | 'reason'>
  readonly #memory: Gauge<'group' | 'resource' | 'kind'>

  constructor(registry: Registry) {
    const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> =>
      new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] })
    this.#objectCounts = gauge(
      'apiserver_storage_objects',
      'Objects stored, as last counted; -1 when counting failed.',
      ['resource'],
    )
    this.#sizes = gauge('apiserver_storage_db_total_size_in_bytes', 'Size of the database of the storage.', [
      'endpoint',
    ])
    this.#bytes = gauge(
      'apiserver_resource_size_estimate_bytes',
      'Estimated bytes of the stored objects; -1 when unknown.',
      BY_RESOURCE,
    )
    this.#objects = gauge('keelson_cache_objects', 'Objects in shared memory.', BY_RESOURCE)
    this.#ready = gauge('keelson_cache_ready', '1 while a resource is served from memory.', BY_RESOURCE)
    this.#memory = gauge('keelson_cache_memory_bytes', 'Shared memory by kind: used, free, pinned, segments.', [
      ...BY_RESOURCE,
      'kind',
    ])
    this.#fallbacks = new Counter({
      name: 'keelson_cache_fallbacks_total',
      help: 'How often a resource fell back to its storage.',
      labelNames: [...BY_RESOURCE, 'reason'],
      registers: [registry],
    })
  }

  observe(event: OwnerEvent): void {
    switch (event.type) {
      case 'count':
        this.#objectCounts.set({ resource: event.resource }, event.objects)
        this.#bytes.set({ ...parseGroupResource(event.resource) }, event.bytes)
        break
      case 'count-gone':
        this.#objectCounts.remove({ resource: event.resource })
        this.#bytes.remove({ ...parseGroupResource(event.resource) })
        break
      case 'db-size':
        this.#sizes.set({ endpoint: event.endpoint }, event.bytes)
        break
      case 'resource-state': {
        const labels = parseGroupResource(event.resource)
        this.#ready.set({ ...labels }, event.health.state === 'ready' ? 1 : 0)
        if (event.health.state === 'fallen')
          this.#fallbacks.inc({ ...labels, reason: event.health.reason ?? 'unknown' })
        break
      }
    }
  }

  /** For a scrape: the owner is asked once, not once a resource. */
  memory(reports: Readonly<Record<string, ResourceMemory>>): void {
    for (const [resource, report] of Object.entries(reports)) {
      const labels = parseGroupResource(resource)
      this.#objects.set({ ...labels }, report.objects)
      this.#memory.set({ ...labels, kind: 'used' }, report.usedBytes)
      this.#memory.set({ ...labels, kind: 'free' }, report.freeBytes)
      this.#memory.set({ ...labels, kind: 'pinned' }, report.pinnedBytes)
      this.#memory.set({ ...labels, kind: 'segments' }, report.segmentBytes)
    }
  }
}

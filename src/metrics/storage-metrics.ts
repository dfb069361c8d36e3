/** Thread: main. What the owner tells of storage and cache, as metrics. */
import { parseGroupResource } from '../api/group-version.js'
import type { OwnerEvent, ResourceMemory } from '../protocol/main-owner.js'
import { cacheFamilies, storageFamilies } from './families.js'
import type { Recorder } from './recorder.js'

export class StorageMetrics {
  readonly #recorder: Recorder
  readonly #known = new Set<string>()

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  observe(event: OwnerEvent): void {
    const recorder = this.#recorder
    switch (event.type) {
      case 'count': {
        const { group, resource } = parseGroupResource(event.resource)
        recorder.series(storageFamilies.objects, event.resource).set(event.objects)
        recorder.series(storageFamilies.resourceObjects, group, resource).set(event.objects)
        recorder.series(storageFamilies.sizeEstimate, group, resource).set(event.bytes)
        break
      }
      case 'count-gone': {
        const { group, resource } = parseGroupResource(event.resource)
        recorder.series(storageFamilies.objects, event.resource).clear()
        recorder.series(storageFamilies.resourceObjects, group, resource).clear()
        recorder.series(storageFamilies.sizeEstimate, group, resource).clear()
        break
      }
      case 'db-size':
        recorder.series(storageFamilies.dbSize, event.endpoint).set(event.bytes)
        recorder.series(storageFamilies.size, `etcd-${event.cluster}`).set(event.bytes)
        break
      case 'resource-state': {
        const { group, resource } = parseGroupResource(event.resource)
        const { state, reason = 'unknown' } = event.health
        const ready = recorder.series(cacheFamilies.ready, group, resource)
        if (state === 'closed') ready.clear()
        else ready.set(state === 'ready' ? 1 : 0)
        if (state === 'fallen') recorder.series(cacheFamilies.fallbacks, group, resource, reason).add(1)
        if (state === 'ready') recorder.series(cacheFamilies.initializations, group, resource).add(1)
        break
      }
    }
  }

  /** Takes the owner's report for a scrape, which is asked for once and not once a resource. */
  memory(reports: Readonly<Record<string, ResourceMemory>>): void {
    for (const name of this.#known) if (reports[name] === undefined) this.#forget(name)
    for (const [name, report] of Object.entries(reports)) {
      this.#known.add(name)
      const { group, resource } = parseGroupResource(name)
      const kinds = { used: report.usedBytes, free: report.freeBytes, pinned: report.pinnedBytes }
      for (const [kind, bytes] of Object.entries({ ...kinds, segments: report.segmentBytes }))
        this.#recorder.series(cacheFamilies.memory, group, resource, kind).set(bytes)
      this.#recorder.series(cacheFamilies.objects, group, resource).set(report.objects)
      this.#recorder.series(cacheFamilies.window, group, resource).set(report.events)
      this.#recorder.series(cacheFamilies.capacity, group, resource).set(report.capacity)
      this.#recorder.series(cacheFamilies.resourceVersion, group, resource).set(report.revision)
    }
  }

  #forget(name: string): void {
    this.#known.delete(name)
    const { group, resource } = parseGroupResource(name)
    for (const family of [
      cacheFamilies.objects,
      cacheFamilies.window,
      cacheFamilies.capacity,
      cacheFamilies.resourceVersion,
    ])
      this.#recorder.series(family, group, resource).clear()
    for (const kind of ['used', 'free', 'pinned', 'segments'])
      this.#recorder.series(cacheFamilies.memory, group, resource, kind).clear()
  }
}

/**
 * Thread: owner. Brings the batches of the one watch into the arenas. A batch is decrypted and decoded first, which may
 * have to wait for a key service but never changes the order; then, in one synchronous step, it is written and
 * published, and the clock is moved.
 *
 * Every revision is published in every arena it touched before the next one is written, so that each revision has its
 * root. The clock moves once a batch, which wakes the readers once.
 */
import type { RecordDraft } from '../../protocol/record-draft.js'
import type { KvEvent, KvWatchBatch } from '../../storage/contract/kv.js'
import type { ClockWriter } from '../memory/shared-memory.js'
import type { CachedResource, Change } from './cached-resource.js'
import type { HandedDrafts } from './handed-drafts.js'
import type { PrefixRouter } from './prefix-router.js'

interface Routed {
  readonly resource: CachedResource
  readonly change: Change
}

export class StreamApplier {
  readonly #router: PrefixRouter<CachedResource>
  readonly #clock: ClockWriter
  readonly #handed: HandedDrafts

  constructor(options: { router: PrefixRouter<CachedResource>; clock: ClockWriter; handed: HandedDrafts }) {
    this.#router = options.router
    this.#clock = options.clock
    this.#handed = options.handed
  }

  /**
   * Applies a batch. Gives undefined when it was applied at once, which is the rule, and a promise when a key service
   * had to be asked.
   */
  apply(batch: KvWatchBatch): Promise<void> | undefined {
    const routed: (Routed | Promise<Routed>)[] = []
    let waiting = false
    for (const event of batch.events) {
      const resource = this.#router.route(event.kv.key)
      if (resource === undefined) continue
      const draft = this.#draftOf(resource, event)
      if (draft instanceof Promise) {
        waiting = true
        routed.push(draft.then((d) => ({ resource, change: changeOf(event, d) })))
      } else {
        routed.push({ resource, change: changeOf(event, draft) })
      }
    }
    if (waiting) return Promise.all(routed).then((all) => this.#write(all, batch.revision))
    this.#write(routed as Routed[], batch.revision)
    return undefined
  }

  #draftOf(resource: CachedResource, event: KvEvent): ReturnType<CachedResource['decode']> | undefined {
    if (event.type === 'delete' || resource.closed) return undefined
    return event.draft ?? this.#handed.take(event.kv) ?? resource.decode(event.kv)
  }

  #write(changes: readonly Routed[], revision: number): void {
    const touched = new Set<CachedResource>()
    let writing = 0
    const publish = (): void => {
      for (const resource of touched) resource.publish(writing)
      touched.clear()
    }
    for (const { resource, change } of changes) {
      if (change.revision !== writing) {
        publish()
        writing = change.revision
      }
      resource.events.received()
      if (resource.apply(change)) {
        touched.add(resource)
        resource.events.dispatched()
      }
    }
    publish()
    this.#clock.advance(revision)
  }
}

function changeOf(event: KvEvent, draft: RecordDraft | Error | undefined): Change {
  const { key, modRevision, createRevision } = event.kv
  return { key, revision: modRevision, createRevision, draft: event.type === 'delete' ? undefined : draft }
}

/**
 * Thread: main. A hub whose watchers see objects in another form: each event is converted once for all of them, in
 * batches, and delivered in order.
 *
 *   idle ──the clock moves──▶ converting a batch ──delivered──▶ converting the next ──nothing left──▶ idle
 *
 * While a batch is converted the cursor is ahead of what was delivered. A watcher that joins at that time has already
 * seen the events of the batch.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ArenaReader, CacheEvent } from '../../cacher/memory/shared-memory.js'
import type { ResourceView } from '../../cacher/read/resource-view.js'
import { type EventType, shownRecord, visibleType } from '../../cacher/read/visible-event.js'
import type { ConversionForm, ConversionItem, Converter } from './converter.js'
import { HubBatch } from './hub-batch.js'
import type { Audience } from './hub-members.js'
import type { WatchSeries } from './read-metrics.js'
import { eventItem, type WatchFraming } from './watch-frames.js'
import { FollowingHub } from './watch-hub.js'

/** The most events of a batch, so that the first ones are not kept waiting for the last. */
const BATCH_EVENTS = 64

export interface ConvertingHubOptions {
  readonly arena: ArenaReader
  readonly view: ResourceView
  readonly converter: Converter
  readonly form: ConversionForm
  readonly framing: WatchFraming
  readonly series: WatchSeries
}

interface Delivery {
  readonly type: EventType
  readonly revision: number
  readonly audiences: Audience[]
  readonly item: ConversionItem
}

export class ConvertingHub extends FollowingHub {
  readonly #options: ConvertingHubOptions
  #converting = false
  #delivered = 0

  constructor(options: ConvertingHubOptions) {
    super(options.arena, options.view)
    this.#options = options
  }

  override get revision(): number {
    return this.#converting ? this.#delivered : super.revision
  }

  protected override advance(): void {
    if (this.#converting) return
    this.#delivered = this.revision
    this.#converting = true
    this.#pump()
      .catch((error: unknown) => {
        for (const watcher of this.members.all()) watcher.failed(error)
      })
      .finally(() => {
        this.#converting = false
      })
  }

  async #pump(): Promise<void> {
    for (;;) {
      const { cursor } = this
      if (cursor === undefined) return
      const batch: Delivery[] = []
      let events = 0
      const outcome = cursor.advance((event) => {
        batch.push(...this.#deliveries(event))
        return ++events < BATCH_EVENTS
      })
      if (outcome === 'expired') {
        this.expire()
        return
      }
      if (batch.length > 0) await this.#deliver(batch)
      this.#delivered = cursor.revision
      if (outcome === 'current' && batch.length === 0) return
      // Without this pause, batches whose forms are all in the cache would follow each other without a turn for other
      // connections.
      await nextTurn()
    }
  }

  /** The audiences that see the event, by how it looks to them. */
  #deliveries(event: CacheEvent): Iterable<Delivery> {
    const byType = new Map<EventType, Delivery>()
    this.members.visit(event, (audience) => {
      const type = visibleType(event, audience.selectors)
      if (type === undefined) return
      const delivery = byType.get(type)
      if (delivery !== undefined) delivery.audiences.push(audience)
      else {
        const item = eventItem(shownRecord(event, type), event.revision)
        byType.set(type, { type, revision: event.revision, audiences: [audience], item })
      }
    })
    return byType.values()
  }

  async #deliver(batch: readonly Delivery[]): Promise<void> {
    const { converter, form, framing, series } = this.#options
    const shown = await converter.convert(
      form,
      batch.map(({ item }) => item),
    )
    const out = new HubBatch()
    for (const [i, { type, revision, audiences }] of batch.entries()) {
      const bytes = framing.frame(type, shown[i]!)
      for (const audience of audiences) out.add(audience, bytes, revision)
    }
    out.deliver(series)
  }
}

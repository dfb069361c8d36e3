/**
 * Thread: main. GET, LIST and WATCH, answered from shared memory in the form that is asked for; what memory does not hold, or
 * not in such a form, goes to the pool. Keeps the watches that are under way and the hubs that feed them.
 */
import { type AcceptedMediaType, acceptedMediaType } from '../../api/media-type.js'
import { newTooManyRequests } from '../../api/status.js'
import type { ArenaReader } from '../../cacher/memory/shared-memory.js'
import { FieldIndexes } from '../../cacher/read/field-indexes.js'
import type { ResourceViews } from '../../cacher/read/resource-view.js'
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import type { Logger } from '../../lib/logger.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { Exchange } from '../http/exchange.js'
import type { PoolRunner } from '../threads/pool.js'
import { type ConversionForm, Converter, shaped } from './converter.js'
import { ConvertingHub } from './converting-hub.js'
import { getObject } from './get.js'
import { listObjects } from './list.js'
import { isConvertible, type ObjectForm, objectForm, readShape } from './object-form.js'
import type { PoolRequests } from './pool-requests.js'
import type { ReadContext, ReadRequest } from './read-context.js'
import { ReadMetrics } from './read-metrics.js'
import type { ResourceTable } from './resource-table.js'
import type { ServedResource } from './served-resource.js'
import { SharedSelectors } from './shared-selectors.js'
import { SlowLists } from './slow-lists.js'
import { startStorageWatch } from './storage-watch.js'
import { startWatch } from './watch.js'
import { JSON_FRAMING, PROTOBUF_FRAMING, type WatchFraming } from './watch-frames.js'
import { type Hub, WatchHub } from './watch-hub.js'

export interface ReadVerbsOptions {
  readonly views: ResourceViews
  readonly pool: PoolRunner
  readonly poolRequests: PoolRequests
  readonly clock: Clock
  readonly random: Random
  readonly minRequestTimeoutSeconds: number
  readonly recorder: Recorder
  readonly logger: Logger
}

export class ReadVerbs {
  readonly #options: ReadVerbsOptions
  /** Keyed by the name of the arena; hubs of another form by the key of the form, which begins with that name. */
  readonly #hubs = new Map<string, Hub>()
  /** The arena whose objects were converted last, by resource. */
  readonly #convertedFrom = new Map<string, ArenaReader>()
  readonly #watches = new Map<
    { end(): void },
    { readonly resource: ServedResource; readonly arena: ArenaReader | undefined }
  >()
  readonly #context: ReadContext

  constructor(options: ReadVerbsOptions) {
    this.#options = options
    const metrics = new ReadMetrics(options.recorder)
    this.#context = {
      views: options.views,
      clock: options.clock,
      random: options.random,
      minRequestTimeoutSeconds: options.minRequestTimeoutSeconds,
      answerFromPool: (request) => options.poolRequests.read(request),
      indexes: new FieldIndexes(),
      converter: new Converter({
        clock: options.clock,
        run: (conversion) => options.pool.run('convert', conversion),
        columns: (table) => options.pool.run('tableColumns', table),
        counter: metrics,
      }),
      metrics,
      slowLists: new SlowLists({ clock: options.clock, logger: options.logger, metrics }),
      selectors: new SharedSelectors(),
    }
  }

  /** Watches of resources that are not served any more, or whose memory was made anew: their clients list and watch again. */
  endLostWatches(resources: ResourceTable): void {
    const { views } = this.#options
    for (const [watch, { resource, arena }] of [...this.#watches]) {
      const served = resources.find(resource.info)
      if (served === undefined || views(served.arena).arena() !== arena) watch.end()
    }
    for (const [key, hub] of this.#hubs) if (views(key.split('|', 1)[0]!).arena() !== hub.arena) this.#hubs.delete(key)
    // A version may be shown in another way than before.
    this.#context.converter.forget()
  }

  endAllWatches(): void {
    for (const watch of [...this.#watches.keys()]) watch.end()
  }

  answer(request: ReadRequest): Promise<void> | undefined {
    const { info, exchange, resource, query } = request
    const accepted = acceptedForm(exchange, info.verb !== 'get', resource)
    if (info.subresource !== '' && info.verb === 'get') return this.#fromPool(request)
    if (info.verb === 'watch') return this.#watch(request, accepted)
    const view = this.#options.views(resource.arena)
    if (view.arena() === undefined || (query.size > 0 && query.has('pretty'))) return this.#fromPool(request)
    const isList = info.verb === 'list'
    let form: ObjectForm | undefined
    if (!isStoredForm(resource, accepted)) {
      if (!isConvertible(accepted, isList)) return this.#fromPool(request)
      this.#forgetOtherMemory(resource.arena, view.arena())
      form = objectForm(resource, accepted, exchange.head.accept, query, readShape(accepted, isList))
    }
    if (!isList) return getObject(request, view, this.#context, form)
    return listObjects(request, view, this.#context, form).then((done) => (done ? undefined : this.#fromPool(request)))
  }

  /**
   * What was converted is known by key and revision. Memory that was made anew may be of a store that was restored from a
   * backup, where the same revision is another state.
   */
  #forgetOtherMemory(name: string, arena: ArenaReader | undefined): void {
    const before = this.#convertedFrom.get(name)
    if (before === arena || arena === undefined) return
    this.#convertedFrom.set(name, arena)
    if (before !== undefined) this.#context.converter.forget()
  }

  #fromPool(request: ReadRequest): Promise<void> {
    return this.#options.poolRequests.read(request)
  }

  async #watch(request: ReadRequest, accepted: AcceptedMediaType): Promise<void> {
    const { resource, exchange } = request
    const view = this.#options.views(resource.arena)
    const arena = view.arena()
    const framing = accepted.serialization === 'protobuf' ? PROTOBUF_FRAMING : JSON_FRAMING
    if (arena === undefined) {
      if (view.fallen()) return this.#watchStorage(request, framing)
      throw newTooManyRequests('storage is (re)initializing', 1)
    }
    const form = isStoredForm(resource, { ...accepted, pretty: false })
      ? undefined
      : objectForm(resource, accepted, exchange.head.accept, request.query).form
    if (form !== undefined) this.#forgetOtherMemory(resource.arena, arena)
    const isTable = accepted.transformation?.as === 'Table'
    const watch = await startWatch({
      request,
      view,
      arena,
      hub: this.#hub(resource, arena, isTable && form !== undefined ? shaped(form, 'bare') : form, framing),
      context: this.#context,
      form,
      isTable,
      framing,
      onEnd: (ended) => this.#watches.delete(ended),
    })
    if (watch === 'storage') return this.#watchStorage(request, framing)
    if (watch !== undefined) this.#watches.set(watch, { resource, arena })
  }

  /** What memory does not hold is followed in the storage, by a pool thread. */
  async #watchStorage(request: ReadRequest, framing: WatchFraming): Promise<void> {
    const { pool, poolRequests } = this.#options
    const watch = await startStorageWatch({
      request,
      context: this.#context,
      framing,
      open: (port) => pool.run('watch', { request: poolRequests.withoutBody(request), port }, request),
      onEnd: () => {
        if (watch !== undefined) this.#watches.delete(watch)
      },
    })
    if (watch !== undefined) this.#watches.set(watch, { resource: request.resource, arena: undefined })
  }

  /** One for each form in which anybody watches a resource. */
  #hub(resource: ServedResource, arena: ArenaReader, form: ConversionForm | undefined, framing: WatchFraming): Hub {
    const { converter, metrics, views } = this.#context
    const view = views(resource.arena)
    const key = form?.key ?? resource.arena
    let hub = this.#hubs.get(key)
    if (hub?.arena !== arena) {
      hub =
        form === undefined
          ? new WatchHub(arena, view, metrics.watches(resource))
          : new ConvertingHub({ arena, view, converter, form, framing, series: metrics.watches(resource) })
      this.#hubs.set(key, hub)
    }
    return hub
  }
}

/** The form that the client takes; throws the 406 when it takes none of ours. */
function acceptedForm(exchange: Exchange, streams: boolean, resource: ServedResource): AcceptedMediaType {
  return acceptedMediaType(exchange.head.accept, { protobuf: !resource.itemsCarryKind, streams })
}

/** As memory holds it. */
const isStoredForm = (
  resource: ServedResource,
  { serialization, pretty, transformation }: AcceptedMediaType,
): boolean => resource.direct && serialization === 'json' && !pretty && transformation === undefined

/**
 * Thread: main. GET, LIST and WATCH, answered from shared memory in the form that is asked for; what memory does not
 * hold, or not in such a form, goes to the pool. Keeps the watches that are under way and the hubs that feed them.
 */
import { parseListOptions, refuseInitialEvents } from '../../api/list-options.js'
import { type AcceptedMediaType, acceptedMediaType } from '../../api/media-type.js'
import { parseSelectors, selectsContent } from '../../api/selectors.js'
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
  /** Whether watches may ask for the state of now as events. */
  readonly watchList: boolean
  readonly recorder: Recorder
  readonly logger: Logger
}

export class ReadVerbs {
  readonly #options: ReadVerbsOptions
  /** Hubs by the name of the arena; those of another form by the key of the form, which begins with that name. */
  readonly #hubs = new Map<string, Hub>()
  /** Arenas by number, as forms of their objects name them. */
  readonly #memories = new WeakMap<ArenaReader, number>()
  #lastMemory = 0
  readonly #watches = new Map<
    { end(): void },
    {
      readonly resource: ServedResource
      readonly arena: ArenaReader | undefined
      readonly form: ConversionForm | undefined
    }
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

  /**
   * Ends the watches that a change of resources has made wrong: those of resources that are no longer served or whose
   * memory was made anew, and those whose objects are converted by a definition that has changed. Their clients list
   * and watch again. `only` is the arena of the one resource that has changed.
   */
  endLostWatches(resources: ResourceTable, only?: string): void {
    const { views } = this.#options
    for (const [watch, { resource, arena, form }] of [...this.#watches]) {
      if (only !== undefined && resource.arena !== only) continue
      const served = resources.find(resource.info)
      const isOther = served?.info.definitionHash !== resource.info.definitionHash
      if (served === undefined || views(served.arena).arena() !== arena || (form !== undefined && isOther)) watch.end()
    }
    for (const [key, hub] of this.#hubs) {
      const [arena = ''] = key.split('|', 1)
      if ((only === undefined || arena === only) && views(arena).arena() !== hub.arena) this.#hubs.delete(key)
    }
  }

  endAllWatches(): void {
    for (const watch of [...this.#watches.keys()]) watch.end()
  }

  answer(request: ReadRequest): Promise<void> | undefined {
    const { info, exchange, resource, query } = request
    const accepted = acceptedForm(exchange, info.verb, resource)
    if (info.subresource !== '' && info.verb === 'get') return this.#fromPool(request)
    if (info.verb === 'watch') {
      if (!this.#options.watchList) refuseInitialEvents(query)
      return this.#watch(request, accepted)
    }
    const view = this.#options.views(resource.arena)
    if (view.arena() === undefined || (query.size > 0 && query.has('pretty'))) return this.#fromPool(request)
    if (resource.selectsConverted && selectsConverted(request)) return this.#fromPool(request)
    const isList = info.verb === 'list'
    let form: ObjectForm | undefined
    if (!isStoredForm(resource, accepted)) {
      if (!isConvertible(accepted, isList)) return this.#fromPool(request)
      form = objectForm(
        resource,
        this.#memory(view.arena()),
        accepted,
        exchange.head.accept,
        query,
        readShape(accepted, isList),
      )
    }
    if (!isList) return getObject(request, view, this.#context, form)
    return listObjects(request, view, this.#context, form).then((done) => (done ? undefined : this.#fromPool(request)))
  }

  #memory(arena: ArenaReader | undefined): number {
    if (arena === undefined) return 0
    let number = this.#memories.get(arena)
    if (number === undefined) {
      number = ++this.#lastMemory
      this.#memories.set(arena, number)
    }
    return number
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
    if (resource.selectsConverted && selectsConverted(request)) return this.#watchStorage(request, framing, arena)
    const form = isStoredForm(resource, { ...accepted, pretty: false })
      ? undefined
      : objectForm(resource, this.#memory(arena), accepted, exchange.head.accept, request.query).form
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
    if (watch !== undefined) this.#watches.set(watch, { resource, arena, form })
  }

  /**
   * Serves a watch by a pool thread that follows the storage: memory does not hold the objects, or (with `arena`) only
   * a webhook can convert them.
   */
  async #watchStorage(request: ReadRequest, framing: WatchFraming, arena?: ArenaReader): Promise<void> {
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
    if (watch !== undefined) this.#watches.set(watch, { resource: request.resource, arena, form: undefined })
  }

  /** The hub of a resource in one form; there is one for each form in which anybody watches. */
  #hub(resource: ServedResource, arena: ArenaReader, form: ConversionForm | undefined, framing: WatchFraming): Hub {
    const { converter, metrics, views, clock } = this.#context
    const view = views(resource.arena)
    const key = form?.key ?? resource.arena
    let hub = this.#hubs.get(key)
    if (hub?.arena !== arena) {
      hub =
        form === undefined
          ? new WatchHub(arena, view, metrics.watches(resource), clock)
          : new ConvertingHub({ arena, view, converter, form, framing, series: metrics.watches(resource) })
      this.#hubs.set(key, hub)
    }
    return hub
  }
}

/** The form that the client takes; throws the 406 when it takes none of ours. */
function acceptedForm({ head }: Exchange, verb: string, { isCustom }: ServedResource): AcceptedMediaType {
  return acceptedMediaType(head.accept, {
    protobuf: isCustom ? 'metadata' : true,
    yaml: verb !== 'watch',
    streams: verb !== 'get',
  })
}

/** Whether the request is about labels and fields that objects have once they are converted. */
function selectsConverted({ query, info, resource }: ReadRequest): boolean {
  if (query.size === 0 || info.verb === 'get') return false
  return selectsContent(parseSelectors(parseListOptions(query, info.verb === 'watch'), resource.selectableFields))
}

/** Whether the client takes objects as memory holds them. */
const isStoredForm = (
  resource: ServedResource,
  { serialization, pretty, transformation }: AcceptedMediaType,
): boolean => resource.direct && serialization === 'json' && !pretty && transformation === undefined

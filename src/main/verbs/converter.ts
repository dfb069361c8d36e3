/**
 * Thread: main. Gives objects in another form: from the cache, from a conversion that is under way already, or from the
 * pool, which is sent the missing ones in batches.
 */
import type { ResourceInfo } from '../../api/catalogue.js'
import type { AcceptedMediaType } from '../../api/media-type.js'
import { StatusError } from '../../api/status.js'
import type { Clock } from '../../lib/clock.js'
import type { ConversionShape, Converted, EventConversion } from '../../protocol/main-pool.js'
import { ConversionCache } from './conversion-cache.js'
import type { ConversionCounter } from './read-metrics.js'

/** Room for 1,000 pods in protobuf, several times over. */
const CACHE_BYTES = 32 * 1024 * 1024
/** The most forms whose Table columns are kept: more than people look at, and some megabytes at most. */
const MAX_COLUMNS = 1024
/** The most bodies of one crossing: enough to be worth it, few enough for several threads to share a list. */
const BATCH_ITEMS = 128
const BATCH_BYTES = 1024 * 1024

/** One form of the objects of one resource. */
export interface ConversionForm extends Omit<EventConversion, 'bodies'> {
  /** The name of the form: forms with one key are the same. */
  readonly key: string
}

export interface ConversionItem {
  /** Names the object and its state, within its resource. */
  readonly id: string
  /**
   * The body as it is in memory, perhaps a view. It is asked for only in the turn of the call, and only when it is
   * needed.
   */
  readonly body: Uint8Array
}

export interface ConverterOptions {
  readonly clock: Clock
  readonly run: (conversion: EventConversion) => Promise<Converted>
  /** The columns of a resource's Tables. */
  readonly columns: (table: { readonly resource: string; readonly apiVersion: string }) => Promise<Uint8Array>
  readonly cacheBytes?: number
  readonly counter?: ConversionCounter
}

export function conversionForm(
  resource: {
    readonly arena: string
    readonly apiVersion: string
    readonly info: Pick<ResourceInfo, 'definitionHash'>
  },
  { serialization, transformation }: AcceptedMediaType,
  mediaType: string,
  include: string,
  memory: number,
): ConversionForm {
  const as = transformation === undefined ? '' : `${transformation.as}.${transformation.version}`
  const { arena, apiVersion, info } = resource
  return {
    resource: arena,
    apiVersion,
    mediaType,
    include,
    shape: 'whole',
    // The key names the definition and the arena too: after a change of either, no earlier conversion is found.
    key: `${arena}|${apiVersion}|${info.definitionHash ?? ''}|${memory}|${serialization}|${as}|${include}|`,
  }
}

/** The form with another shape: a Table without columns, a row, or YAML. */
export const shaped = (form: ConversionForm, shape: ConversionShape): ConversionForm => ({
  ...form,
  shape,
  key: `${form.key}${shape}|`,
})

export class Converter {
  readonly #options: ConverterOptions
  readonly #cache: ConversionCache
  readonly #underWay = new Map<string, Promise<Uint8Array>>()
  /** The columns of Tables, by the key of the form; all are dropped when there are too many. */
  readonly #columns = new Map<string, Uint8Array>()

  constructor(options: ConverterOptions) {
    this.#options = options
    this.#cache = new ConversionCache(options.cacheBytes ?? CACHE_BYTES)
  }

  /** The columns of the form's Tables, in JSON; the pool is asked for them once. */
  columns({ resource, apiVersion, key }: ConversionForm): Uint8Array | Promise<Uint8Array> {
    const columns = this.#columns
    return (
      columns.get(key) ??
      this.#options.columns({ resource, apiVersion }).then((bytes) => {
        if (columns.size >= MAX_COLUMNS) columns.clear()
        columns.set(key, bytes)
        return bytes
      })
    )
  }

  /**
   * The objects in the form, in order. There is no promise when all of them are at hand. It rejects with a StatusError
   * when the pool knows what the client is to be told.
   */
  convert(form: ConversionForm, items: readonly ConversionItem[]): Uint8Array[] | Promise<Uint8Array[]> {
    const nowMs = this.#options.clock.monotonicMs()
    const found: (Uint8Array | Promise<Uint8Array>)[] = []
    const missing: { readonly key: string; readonly at: number }[] = []
    let waits = false
    for (const [at, { id }] of items.entries()) {
      const key = `${form.key}${id}`
      const known = this.#cache.get(key, nowMs) ?? this.#underWay.get(key)
      if (known === undefined) missing.push({ key, at })
      else {
        found[at] = known
        waits ||= known instanceof Promise
      }
    }
    this.#options.counter?.found(items.length - missing.length)
    if (missing.length === 0 && !waits) return found as Uint8Array[]
    this.#options.counter?.made(missing.length)
    this.#fetch(form, items, missing, found)
    return Promise.all(found)
  }

  #fetch(
    form: ConversionForm,
    items: readonly ConversionItem[],
    missing: readonly { readonly key: string; readonly at: number }[],
    found: (Uint8Array | Promise<Uint8Array>)[],
  ): void {
    let from = 0
    while (from < missing.length) {
      const bodies: Uint8Array[] = []
      let bytes = 0
      let to = from
      while (to < missing.length && bodies.length < BATCH_ITEMS && bytes < BATCH_BYTES) {
        // The body is copied, because it is moved to the pool.
        const body = new Uint8Array(items[missing[to]!.at]!.body)
        bytes += body.byteLength
        bodies.push(body)
        to++
      }
      const { key: _key, ...conversion } = form
      const batch = this.#options.run({ ...conversion, bodies })
      for (const [i, { key, at }] of missing.slice(from, to).entries()) found[at] = this.#one(key, batch, i)
      from = to
    }
  }

  async #one(key: string, batch: Promise<Converted>, index: number): Promise<Uint8Array> {
    // The pool counts freshness from a later moment, so a form expires too early rather than too late.
    const askedMs = this.#options.clock.monotonicMs()
    const one = batch.then(({ shown, refusal }) => {
      if (refusal !== undefined) throw new StatusError(refusal)
      return shown[index]!
    })
    const cache = this.#cache
    this.#underWay.set(key, one)
    try {
      const bytes = compact(await one)
      const { freshForMs } = await batch
      cache.set(key, bytes, askedMs + (freshForMs?.[index] ?? Infinity))
      this.#options.counter?.kept(this.#cache.bytes)
      return bytes
    } finally {
      if (this.#underWay.get(key) === one) this.#underWay.delete(key)
    }
  }
}

/** Small results are copied: those of a batch lie together in memory, which each would keep as a whole. */
const compact = (bytes: Uint8Array): Uint8Array =>
  bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.prototype.slice.call(bytes)

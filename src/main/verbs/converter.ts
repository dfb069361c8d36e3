/**
 * Thread: main. Objects in another form: from the cache, from a conversion that is under way already, or from the pool,
 * which gets all that is missing in batches.
 */
import type { AcceptedMediaType } from '../../api/media-type.js'
import type { Clock } from '../../lib/clock.js'
import type { ConversionShape, Converted, EventConversion } from '../../protocol/main-pool.js'
import { ConversionCache } from './conversion-cache.js'
import type { ConversionCounter } from './read-metrics.js'

/** What 1,000 pods take in protobuf, several times over. */
const CACHE_BYTES = 32 * 1024 * 1024
/** Bodies of one crossing: large enough to be worth it, small enough for several threads to share a list. */
const BATCH_ITEMS = 128
const BATCH_BYTES = 1024 * 1024

/** One form of the objects of one resource. */
export interface ConversionForm extends Omit<EventConversion, 'bodies'> {
  /** Names it: forms with one key are the same. */
  readonly key: string
}

export interface ConversionItem {
  /** Names the object and its state within its resource. */
  readonly id: string
  /** As it is in memory; may be a view. Asked for only in the turn of the call, and only when it is needed. */
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
  resource: { readonly arena: string; readonly apiVersion: string },
  { serialization, transformation }: AcceptedMediaType,
  mediaType: string,
  include: string,
): ConversionForm {
  const as = transformation === undefined ? '' : `${transformation.as}.${transformation.version}`
  const { arena, apiVersion } = resource
  return {
    resource: arena,
    apiVersion,
    mediaType,
    include,
    shape: 'whole',
    key: `${arena}|${apiVersion}|${serialization}|${as}|${include}|`,
  }
}

/** The same, of which something else is made: a Table without columns, or a row, or YAML. */
export const shaped = (form: ConversionForm, shape: ConversionShape): ConversionForm => ({
  ...form,
  shape,
  key: `${form.key}${shape}|`,
})

export class Converter {
  readonly #options: ConverterOptions
  #cache: ConversionCache
  readonly #underWay = new Map<string, Promise<Uint8Array>>()
  #columns = new Map<string, Uint8Array>()

  constructor(options: ConverterOptions) {
    this.#options = options
    this.#cache = this.#newCache()
  }

  /** Nothing that was converted holds any more. */
  forget(): void {
    this.#cache = this.#newCache()
    this.#underWay.clear()
    this.#columns = new Map()
  }

  #newCache(): ConversionCache {
    return new ConversionCache(this.#options.cacheBytes ?? CACHE_BYTES)
  }

  /** The columns of the form's Tables, in JSON; asked for once. */
  columns({ resource, apiVersion }: ConversionForm): Uint8Array | Promise<Uint8Array> {
    const key = `${resource}|${apiVersion}`
    const columns = this.#columns
    return (
      columns.get(key) ??
      this.#options.columns({ resource, apiVersion }).then((bytes) => {
        columns.set(key, bytes)
        return bytes
      })
    )
  }

  /** In order. No promise when everything is at hand. */
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
        // A copy: it is moved to the pool.
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
    // The pool counts from a later moment: what is kept goes too early rather than too late.
    const askedMs = this.#options.clock.monotonicMs()
    const one = batch.then(({ shown }) => shown[index]!)
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

/** Small results lie together in memory that they would all keep. */
const compact = (bytes: Uint8Array): Uint8Array =>
  bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.prototype.slice.call(bytes)

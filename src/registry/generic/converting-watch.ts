/**
 * Thread: pool. A watch whose objects are converted on their way, as many at once as have come. With selectors, which see the
 * converted objects, it knows which objects it has shown: one that no longer fits is shown as deleted, one that begins to
 * fit as added. It remembers their names alone, as many as are selected.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type KubeObject, metadataOf } from '../../api/object.js'
import type { SelectionPredicate, WatchEvent, WatchStream } from '../../storage/contract/interface.js'

/** So many events are converted together; the storage's own queue keeps the others. */
const BATCH_EVENTS = 64

type Pull = Promise<IteratorResult<WatchEvent<KubeObject>, undefined>>
type ObjectEvent = Extract<WatchEvent<KubeObject>, { readonly object: KubeObject }>

export interface WatchSelection {
  readonly predicate: SelectionPredicate<KubeObject>
  /** The objects that are selected when the watch begins. */
  readonly selected: Set<string>
}

export class ConvertingWatch implements WatchStream<KubeObject> {
  readonly #stream: WatchStream<KubeObject>
  readonly #convert: (objects: readonly KubeObject[]) => Promise<KubeObject[]>
  readonly #selection: WatchSelection | undefined
  /** The next result of the stream, asked for and not yet there. */
  #pulled: Pull | undefined
  readonly #events: AsyncGenerator<WatchEvent<KubeObject>, undefined>

  constructor(
    stream: WatchStream<KubeObject>,
    convert: (objects: readonly KubeObject[]) => Promise<KubeObject[]>,
    selection?: WatchSelection,
  ) {
    this.#stream = stream
    this.#convert = convert
    this.#selection = selection
    this.#events = this.#converted()
  }

  next(): Pull {
    return this.#events.next()
  }

  stop(): void {
    this.#stream.stop()
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchEvent<KubeObject>> {
    return this.#events
  }

  async *#converted(): AsyncGenerator<WatchEvent<KubeObject>, undefined> {
    for (;;) {
      const { batch, done } = await this.#batch()
      const events = await this.#shown(batch)
      yield* events
      if (done || events.at(-1)?.type === 'ERROR') return undefined
    }
  }

  /** Waits for an event, then takes those that are there already. */
  async #batch(): Promise<{ batch: WatchEvent<KubeObject>[]; done: boolean }> {
    const batch: WatchEvent<KubeObject>[] = []
    while (batch.length < BATCH_EVENTS) {
      this.#pulled ??= this.#stream.next()
      if (batch.length > 0 && !(await isHere(this.#pulled))) break
      const { value, done = false } = await this.#pulled
      this.#pulled = undefined
      if (done || value === undefined) return { batch, done: true }
      batch.push(value)
    }
    return { batch, done: false }
  }

  async #shown(batch: readonly WatchEvent<KubeObject>[]): Promise<WatchEvent<KubeObject>[]> {
    const events = batch.filter((event): event is ObjectEvent => 'object' in event)
    let objects: KubeObject[]
    try {
      objects = events.length === 0 ? [] : await this.#convert(events.map(({ object }) => object))
    } catch (error) {
      this.#stream.stop()
      return [{ type: 'ERROR', error: error instanceof Error ? error : new Error(String(error)) }]
    }
    const converted = objects.values()
    return batch.flatMap((event): WatchEvent<KubeObject>[] => {
      if (!('object' in event)) return [event]
      const seen = this.#seen({ ...event, object: converted.next().value! })
      return seen === undefined ? [] : [seen]
    })
  }

  #seen(event: ObjectEvent): ObjectEvent | undefined {
    if (this.#selection === undefined) return event
    const { predicate, selected } = this.#selection
    const key = keyOf(event.object)
    const was = selected.has(key)
    const is = event.type !== 'DELETED' && matches(predicate, event.object)
    if (is) selected.add(key)
    else selected.delete(key)
    if (!was && !is) return undefined
    return { ...event, type: !is ? 'DELETED' : was ? 'MODIFIED' : 'ADDED' }
  }
}

export const keyOf = (object: KubeObject): string => {
  const { namespace = '', name = '' } = metadataOf(object)
  return `${namespace}/${name}`
}

export function matches({ label, field, getAttributes }: SelectionPredicate<KubeObject>, object: KubeObject): boolean {
  const { labels, fields } = getAttributes(object)
  return label.matches(labels) && field.matches(fields)
}

/** Whether a result is there by the next turn. */
const isHere = (pull: Pull): Promise<boolean> =>
  Promise.race([
    pull.then(
      () => true,
      () => true,
    ),
    nextTurn(false),
  ])

/**
 * Thread: any. Finds watchers by the value that they require of a field (`spec.nodeName` of pods): an event costs one
 * lookup for the value it has and one for the value it had, however many watch. Each thread keeps its own index, over
 * one cursor an arena; a watcher that falls behind goes on with a fork of that cursor.
 */
import type { CacheEvent } from './shared-memory.js'

export class TriggerIndex<W> {
  readonly #field: string
  readonly #byValue = new Map<string, Set<W>>()
  readonly #others = new Set<W>()

  constructor(field: string) {
    this.#field = field
  }

  get size(): number {
    let size = this.#others.size
    for (const watchers of this.#byValue.values()) size += watchers.size
    return size
  }

  /** A watcher without a value is shown every event. Gives the function that takes the watcher out. */
  add(value: string | undefined, watcher: W): () => void {
    if (value === undefined) {
      this.#others.add(watcher)
      return () => void this.#others.delete(watcher)
    }
    const watchers = this.#byValue.get(value) ?? new Set()
    watchers.add(watcher)
    this.#byValue.set(value, watchers)
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#byValue.get(value) === watchers) this.#byValue.delete(value)
    }
  }

  /**
   * Calls once for each watcher that the event may concern: an object whose value changes leaves one watcher's
   * selection and enters another's.
   */
  visit(event: CacheEvent, call: (watcher: W) => void): void {
    for (const watcher of this.#others) call(watcher)
    if (this.#byValue.size === 0) return
    const value = event.record.fields.get(this.#field) ?? ''
    const before = event.previous === undefined ? value : (event.previous.fields.get(this.#field) ?? '')
    const watchers = this.#byValue.get(value)
    if (watchers !== undefined) for (const watcher of watchers) call(watcher)
    if (before === value) return
    const left = this.#byValue.get(before)
    if (left !== undefined) for (const watcher of left) call(watcher)
  }
}

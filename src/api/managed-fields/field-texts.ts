/**
 * Thread: any. Field sets and their texts. A write prints a set for storage and for memory, and reads what it has printed; most sets
 * are those of the object before, or of the object that the same manager wrote last. A set is never changed once made, so its text
 * stays true as long as the set lives.
 */
import { printRaw } from '../json/print-raw.js'
import type { JsonObject } from '../object.js'

/** Enough for what a write has in its hands and for the managers that write most. */
const MAX_SETS = 64
/** Longer texts are printed and read every time: they must not hold memory after their objects have gone. */
const MAX_TEXT_LENGTH = 8192

class FieldTexts {
  readonly #texts = new WeakMap<object, string>()
  /** The sets that were printed last, by text; the oldest first. */
  readonly #sets = new Map<string, JsonObject>()

  textOf(set: JsonObject): string {
    const known = this.#texts.get(set)
    if (known !== undefined) return known
    const text = printRaw(set)
    if (text.length > MAX_TEXT_LENGTH) return text
    this.#texts.set(set, text)
    if (this.#sets.has(text)) return text
    if (this.#sets.size >= MAX_SETS) this.#dropOldest()
    this.#sets.set(text, set)
    return text
  }

  /** A set that has been printed so; undefined when it has to be read. */
  setOf(text: string): JsonObject | undefined {
    return text.length > MAX_TEXT_LENGTH ? undefined : this.#sets.get(text)
  }

  #dropOldest(): void {
    for (const text of this.#sets.keys()) {
      this.#sets.delete(text)
      return
    }
  }
}

/** Those of this thread. */
export const fieldTexts = new FieldTexts()

/**
 * Thread: any. Finding a text in another one in time that is linear in both. What JavaScript has takes the product of their
 * lengths for texts that are made to hurt (`aaa…ab` in `aaa…a`); here that is done only where the product is small.
 */

/** Steps that the plain search may take at worst. */
const PLAIN_STEPS = 4_000_000
/** A string that is longer costs more to look at than one evaluation may cost; functions give an error instead. */
export const MAX_TEXT_LENGTH = 10_000_000

export class TextSearch {
  readonly #part: string
  #failures: Int32Array | undefined

  constructor(part: string) {
    this.#part = part
  }

  /** The first place at or after `from`, in units; -1 when there is none. */
  next(text: string, from: number): number {
    if (text.length * this.#part.length <= PLAIN_STEPS) return text.indexOf(this.#part, from)
    this.#failures ??= failuresOf(this.#part)
    const part = this.#part
    let matched = 0
    for (let i = from; i < text.length; i++) {
      while (matched > 0 && text.charCodeAt(i) !== part.charCodeAt(matched)) matched = this.#failures[matched - 1]!
      if (text.charCodeAt(i) === part.charCodeAt(matched)) matched++
      if (matched === part.length) return i - matched + 1
    }
    return -1
  }

  /** The last place at or before `from`. */
  last(text: string, from: number): number {
    if (text.length * this.#part.length <= PLAIN_STEPS) return text.lastIndexOf(this.#part, from)
    let found = -1
    const until = Math.min(text.length, from + this.#part.length)
    const head = text.slice(0, until)
    for (const at of this.overlapping(head)) found = at
    return found
  }

  /** Every place, those that share units included; the part must not be empty. */
  private *overlapping(text: string): Generator<number> {
    this.#failures ??= failuresOf(this.#part)
    let matched = 0
    for (let i = 0; i < text.length; i++) {
      while (matched > 0 && text.charCodeAt(i) !== this.#part.charCodeAt(matched))
        matched = this.#failures[matched - 1]!
      if (text.charCodeAt(i) === this.#part.charCodeAt(matched)) matched++
      if (matched < this.#part.length) continue
      yield i - matched + 1
      matched = this.#failures[matched - 1]!
    }
  }
}

/** For every beginning of the part: the longest proper one of it that it ends with. */
function failuresOf(part: string): Int32Array {
  const failures = new Int32Array(part.length)
  let matched = 0
  for (let i = 1; i < part.length; i++) {
    while (matched > 0 && part.charCodeAt(i) !== part.charCodeAt(matched)) matched = failures[matched - 1]!
    if (part.charCodeAt(i) === part.charCodeAt(matched)) matched++
    failures[i] = matched
  }
  return failures
}

/**
 * Thread: any. Patterns of schemas: RE2, so that a text takes time in proportion to its length. The size of a pattern counts
 * too: an automaton of a thousand states may look at each of them for every character.
 */
import { RE2JS } from 're2js'
import { isTooLarge } from '../../api/pattern-size.js'

/** Longer ones than anybody writes; compiling takes a millisecond for each thousand characters. */
export const MAX_PATTERN_LENGTH = 16_384

/** `^(a?){1000}$` has 4,004 instructions and takes ten times as long for each as a DNS label, which has 131. */
const LARGE_PROGRAM = 256

export class Pattern {
  readonly source: string
  readonly #compiled: RE2JS | undefined

  constructor(source: string) {
    this.source = source
    this.#compiled = compiled(source)
  }

  get isValid(): boolean {
    return this.#compiled !== undefined
  }

  /** What it takes to keep it. */
  get size(): number {
    return this.source.length + (this.#compiled?.programSize() ?? 0)
  }

  /** Most steps that a match of a text can take. Those of large patterns count more: their states outgrow every cache. */
  steps(text: string): number {
    const size = this.#compiled?.programSize() ?? 0
    return text.length * size * (1 + size / LARGE_PROGRAM)
  }

  /** Anywhere in the text. A pattern that is none matches nothing. */
  matches(text: string): boolean {
    return this.#compiled?.test(text) ?? false
  }
}

/** Schemas repeat their patterns, and so do definitions; compiling one takes as long as some hundred matches. */
const recent = new Map<string, Pattern>()
/** Characters and instructions of all that are kept: each takes some hundred bytes. */
const MOST_RECENT_SIZE = 200_000
let recentSize = 0

export function patternOf(source: string): Pattern {
  const known = recent.get(source)
  if (known !== undefined) return known
  const pattern = new Pattern(source)
  recent.set(source, pattern)
  recentSize += pattern.size
  for (const [oldest, { size }] of recent) {
    if (recentSize <= MOST_RECENT_SIZE) break
    recent.delete(oldest)
    recentSize -= size
  }
  return pattern
}

function compiled(source: string): RE2JS | undefined {
  if (source.length > MAX_PATTERN_LENGTH || isTooLarge(source)) return undefined
  try {
    return RE2JS.compile(source)
  } catch {
    // What the library throws for a text that is no pattern has no type of its own.
    return undefined
  }
}

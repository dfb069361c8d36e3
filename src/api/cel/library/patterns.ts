/**
 * Thread: any. Regular expressions are RE2's, so that none takes more than its size times that of the text. That product can still
 * be large where costs are small (`[a-z]{1,500}` has few characters and many states), so it is counted.
 */
import { RE2JS } from 're2js'
import { estimatedProgramSize, MAX_PROGRAM_SIZE } from '../../pattern-size.js'
import { CelError, type Meter } from '../values/value.js'

/** A longer one takes longer to compile than it costs. */
const MAX_PATTERN_LENGTH = 4096
/** Patterns that are kept: those of the expressions that are evaluated again and again. */
const MAX_PATTERNS = 256
/** Compiling a character takes as long as so many steps, where it is a large class. */
const STEPS_A_CHARACTER = 256
/** The same of an instruction: repetitions multiply what few characters say. */
const STEPS_AN_INSTRUCTION = 64
/** Instructions of all patterns that are kept: each takes half a kilobyte. */
const MAX_KEPT_SIZE = 100_000
/** States that are looked at in one step, for one character of a text. */
const STATES_A_STEP = 4

class Patterns {
  readonly #known = new Map<string, RE2JS | CelError>()
  #keptSize = 0

  of(source: string, meter: Meter | undefined): RE2JS | CelError {
    const known = this.#known.get(source)
    if (known !== undefined) return known
    if (source.length > MAX_PATTERN_LENGTH) return TOO_LARGE
    const size = estimatedProgramSize(source)
    if (size > MAX_PROGRAM_SIZE) return TOO_LARGE
    meter?.spend(source.length * STEPS_A_CHARACTER + size * STEPS_AN_INSTRUCTION)
    const made = compiled(source)
    this.#known.set(source, made)
    this.#keptSize += sizeOf(made)
    this.#forget()
    return made
  }

  /** The oldest go first; what was made last stays, however large. */
  #forget(): void {
    for (const [source, pattern] of this.#known) {
      const isWithin = this.#known.size <= MAX_PATTERNS && this.#keptSize <= MAX_KEPT_SIZE
      if (isWithin || this.#known.size === 1) return
      this.#known.delete(source)
      this.#keptSize -= sizeOf(pattern)
    }
  }
}

const TOO_LARGE = new CelError('error parsing regexp: expression is too large')

const sizeOf = (pattern: RE2JS | CelError): number => (pattern instanceof CelError ? 1 : pattern.programSize())

function compiled(source: string): RE2JS | CelError {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    return new CelError(error instanceof Error ? error.message : String(error))
  }
}

const PATTERNS = new Patterns()

export const patternOf = (source: string, meter?: Meter): RE2JS | CelError => PATTERNS.of(source, meter)

/** To be called before a text is searched: a search may go to the end to find nothing. */
export const countSearch = (pattern: RE2JS, text: string, meter: Meter): void =>
  meter.spend(Math.ceil(((text.length + 1) * pattern.programSize()) / STATES_A_STEP))

/** Most searches after the first end soon, at the next match; those that do not must not go on for ever. */
const NEXT_SEARCH_SHARE = 4

/** To be called before the search for each further match, with where it begins. */
export const countNextSearch = (pattern: RE2JS, text: string, meter: Meter, from: number): void =>
  meter.spend(Math.ceil(((text.length - from + 1) * pattern.programSize()) / (STATES_A_STEP * NEXT_SEARCH_SHARE)))

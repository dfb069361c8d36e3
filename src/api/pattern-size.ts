/**
 * Thread: any. How large a pattern (RE2) becomes, told from its source without compiling it: `x{1000}` has seven characters and a
 * thousand instructions, each of which takes a microsecond to make and half a kilobyte to keep.
 */

/** More instructions than any pattern has that somebody needs; compiling so many takes a tenth of a second. */
export const MAX_PROGRAM_SIZE = 100_000

/** Repetitions within repetitions are counted no further: what is infinite cannot be subtracted. */
const ENDLESS = 1e9

/** What a pattern has that is more than one character and not simply an atom. */
const NAMED_GROUP = /\(\?(?:P?<[=!]|P?<[^>]{0,100}>|[a-zA-Z-]{0,10}:)/y
const FLAGS = /\(\?[a-zA-Z-]{0,10}\)/y
const REPEAT = /\{(\d+)(,(\d*))?\}/y
const BRACED_ESCAPE = /\\[pPx]\{[^}]{0,100}\}/y
const NAMED_CLASS = /\[:\^?[a-z]{0,20}:\]/y

/** Instructions, at least about as many as the compiler makes. Linear; of what is no pattern it is any number. */
export function estimatedProgramSize(source: string): number {
  return new SizeScan(source).total()
}

export const isTooLarge = (source: string): boolean => estimatedProgramSize(source) > MAX_PROGRAM_SIZE

class SizeScan {
  readonly #source: string
  #at = 0
  /** Of the group that is being read, and of its last part, which a repetition would multiply. */
  #size = 0
  #last = 0
  /** Those around it. */
  readonly #outer: number[] = []

  constructor(source: string) {
    this.#source = source
  }

  total(): number {
    while (this.#at < this.#source.length) this.#part()
    while (this.#outer.length > 0) this.#close()
    return this.#size + 2
  }

  #part(): void {
    switch (this.#source[this.#at]) {
      case '\\':
        this.#escape()
        break
      case '[':
        this.#skipClass()
        this.#add(1)
        break
      case '(':
        this.#open()
        break
      case ')':
        this.#at++
        this.#close()
        break
      case '{':
        this.#repeat()
        break
      case '*':
      case '+':
      case '?':
        this.#at++
        this.#grow(this.#last + 2)
        break
      default:
        this.#at++
        this.#add(1)
    }
  }

  #add(size: number): void {
    this.#size += size
    this.#last = size
  }

  /** The last part becomes so large. */
  #grow(size: number): void {
    const grown = Math.min(size, ENDLESS)
    this.#size += grown - this.#last
    this.#last = grown
  }

  #open(): void {
    if (this.#take(FLAGS) !== undefined) return
    if (this.#take(NAMED_GROUP) === undefined) this.#at++
    this.#outer.push(this.#size)
    this.#size = 0
    this.#last = 0
  }

  #close(): void {
    const inner = Math.min(this.#size + 2, ENDLESS)
    this.#size = this.#outer.pop() ?? 0
    this.#add(inner)
  }

  #repeat(): void {
    const found = this.#take(REPEAT)
    if (found === undefined) {
      this.#at++
      this.#add(1)
      return
    }
    const least = Number(found[1])
    const most = found[2] === undefined || found[3] === '' ? least : Number(found[3])
    this.#grow(Math.max(1, least, most) * this.#last + Math.max(1, most - least))
  }

  #escape(): void {
    if (this.#source.startsWith('\\Q', this.#at)) {
      const end = this.#source.indexOf('\\E', this.#at + 2)
      this.#size += (end < 0 ? this.#source.length : end) - this.#at
      this.#last = 1
      this.#at = end < 0 ? this.#source.length : end + 2
      return
    }
    if (this.#take(BRACED_ESCAPE) === undefined) this.#at += 2
    this.#add(1)
  }

  /** A bracket that closes stands for itself where it is the first. */
  #skipClass(): void {
    this.#at += this.#source[this.#at + 1] === '^' ? 2 : 1
    if (this.#source[this.#at] === ']') this.#at++
    while (this.#at < this.#source.length && this.#source[this.#at] !== ']') {
      if (this.#source[this.#at] === '\\') this.#at += 2
      else if (this.#take(NAMED_CLASS) === undefined) this.#at++
    }
    this.#at++
  }

  #take(what: RegExp): RegExpExecArray | undefined {
    what.lastIndex = this.#at
    const found = what.exec(this.#source)
    if (found === null) return undefined
    this.#at += found[0].length
    return found
  }
}

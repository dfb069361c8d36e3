/**
 * Thread: any. Finds early that a text holds more values than a body may: reading all of it first would take a hundred times
 * its bytes. A scan that knows little of YAML counts what looks like values and cuts the text behind the last that is allowed; the
 * parser then reads what is before the cut. Only what the parser finds there counts, so a scan that errs costs time and refuses nothing.
 */
import { EVENT_ID, type Event, parseEvents } from 'js-yaml'
import { MAX_DECODED_VALUES } from '../decoded-size.js'

/** More than one value for each two characters there cannot be. */
const SHORTEST_VALUE = 2
/** What the scan may have taken for values by mistake before the parser is asked in vain. */
const MARGIN = 64

const [TAB, NEWLINE, SPACE, QUOTE, HASH, APOSTROPHE, COMMA, DASH, COLON] = [9, 10, 32, 34, 35, 39, 44, 45, 58]
const [OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_MAP, PIPE, CLOSE_MAP, GREATER] = [91, 92, 93, 123, 124, 125, 62]

/** Whether the text holds too many values, as far as that can be told from its beginning. */
export function isTooLarge(text: string, maxDepth: number): boolean {
  if (text.length < MAX_DECODED_VALUES * SHORTEST_VALUE) return false
  const cut = new ValueScan(text).cutAfter(MAX_DECODED_VALUES + MARGIN)
  if (cut === undefined) return false
  try {
    return valuesOf(parseEvents(cut, { maxDepth })) > MAX_DECODED_VALUES
  } catch {
    // The cut fell where the text cannot end. Whoever reads all of it finds out what is wrong, if anything is.
    return false
  }
}

/** How many values the events become before aliases are followed: items, members, documents; keys are part of their members. */
export function valuesOf(events: readonly Event[]): number {
  let values = 0
  /** Of the mappings and lists that are open: whether the next child is a key; undefined in a list. */
  const open: (boolean | undefined)[] = []
  let isKey: boolean | undefined
  for (const { type } of events) {
    if (type === EVENT_ID.POP) {
      isKey = open.pop()
      continue
    }
    if (isKey !== true) values++
    const next = isKey === undefined ? undefined : !isKey
    if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE || type === EVENT_ID.DOCUMENT) {
      open.push(next)
      isKey = type === EVENT_ID.MAPPING ? true : undefined
    } else isKey = next
  }
  return values
}

class ValueScan {
  readonly #text: string
  #at = 0
  /** What closes the brackets that are open. */
  #closers: string[] = []
  /** A node may begin here: only then do quotes and brackets mean anything outside of brackets. */
  #fresh = true
  #lineStart = 0
  #lineIndent = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The text up to so many values, with its brackets closed; undefined when there are not so many. */
  cutAfter(limit: number): string | undefined {
    let values = 0
    for (; this.#at < this.#text.length; this.#at++) {
      const at = this.#at
      if (!this.#isValue() || ++values <= limit) continue
      // Between brackets the text can end before any comma; elsewhere before a line.
      const end = this.#closers.length > 0 ? at : this.#lineStart
      return this.#text.slice(0, end) + this.#closers.reverse().join('')
    }
    return undefined
  }

  /** Looks at one character, or goes on to the end of what it begins. */
  #isValue(): boolean {
    const c = this.#text.charCodeAt(this.#at)
    if (c === NEWLINE) return this.#newLine()
    if (c === SPACE || c === TAB) return false
    if (c === HASH && this.#isApart(this.#at - 1)) {
      this.#skipTo(this.#text.indexOf('\n', this.#at))
      return false
    }
    const { length } = this.#closers
    if (length > 0 && (c === COMMA || c === CLOSE_LIST || c === CLOSE_MAP)) {
      this.#fresh = c === COMMA
      if (c !== COMMA) this.#closers.pop()
      return c === COMMA
    }
    if (!this.#fresh) {
      this.#fresh = c === COLON && this.#isApart(this.#at + 1)
      return this.#fresh && length === 0
    }
    return this.#begin(c)
  }

  /** A node begins. What stands after a dash is a value; of what is in brackets only the commas are counted, which is too few rather than too many. */
  #begin(c: number): boolean {
    if (c === DASH && this.#closers.length === 0 && this.#isApart(this.#at + 1)) return true
    if (c === QUOTE) this.#skipQuoted('"')
    else if (c === APOSTROPHE) this.#skipQuoted("'")
    else if ((c === PIPE || c === GREATER) && this.#closers.length === 0) this.#skipBlock()
    this.#fresh = c === OPEN_LIST || c === OPEN_MAP
    if (this.#fresh) this.#closers.push(c === OPEN_LIST ? ']' : '}')
    return false
  }

  #newLine(): boolean {
    let at = this.#at + 1
    while (this.#text.charCodeAt(at) === SPACE) at++
    this.#lineStart = this.#at + 1
    this.#lineIndent = at - this.#lineStart
    this.#fresh ||= this.#closers.length === 0
    return false
  }

  #isApart(at: number): boolean {
    if (at < 0 || at >= this.#text.length) return true
    const c = this.#text.charCodeAt(at)
    return c === SPACE || c === NEWLINE || c === TAB
  }

  #skipQuoted(quote: string): void {
    let at = this.#at + 1
    while (at < this.#text.length && this.#text[at] !== quote)
      at += quote === '"' && this.#text.charCodeAt(at) === BACKSLASH ? 2 : 1
    this.#at = at
  }

  /** To the end of the last line that is empty or further in than the one the text began on. */
  #skipBlock(): void {
    let end = this.#text.indexOf('\n', this.#at)
    while (end >= 0) {
      let at = end + 1
      while (this.#text.charCodeAt(at) === SPACE) at++
      const isInside = at - end - 1 > this.#lineIndent || this.#text.charCodeAt(at) === NEWLINE
      if (!isInside) break
      end = this.#text.indexOf('\n', at)
    }
    this.#skipTo(end)
  }

  /** The character there is looked at next; -1: there is nothing more. */
  #skipTo(found: number): void {
    this.#at = (found < 0 ? this.#text.length : found) - 1
  }
}

/**
 * Thread: any. The paths of printer columns, as kubectl's JSONPath has them: fields, indexes, slices, unions, wildcards, filters
 * and descent. A path is parsed once a definition; what it finds is in json-path-values.ts.
 */

export type PathNode =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'array'; readonly slice: Slice }
  | { readonly type: 'union'; readonly paths: readonly (readonly PathNode[])[] }
  | {
      readonly type: 'filter'
      readonly left: readonly PathNode[]
      readonly operator: string
      readonly right: readonly PathNode[]
    }
  | { readonly type: 'wildcard' }
  | { readonly type: 'descent' }
  | { readonly type: 'literal'; readonly value: string | boolean | number; readonly isFloat: boolean }
  /** A word that is no value: it can be parsed and never be carried out. */
  | { readonly type: 'word'; readonly word: string }

/** `[start:end:step]`; an end that was not written is the one after the start. */
export interface Slice {
  readonly start: number | undefined
  readonly end: number | undefined
  readonly isEndDerived: boolean
  readonly step: number | undefined
}

export class JsonPathError extends Error {
  override readonly name = 'JsonPathError'
  readonly code = 'invalid-json-path'
}

/** The longest path that is parsed. */
const MAX_LENGTH = 4096
const TERMINATORS = new Set([' ', '\t', '\r', '\n', '', '.', ',', '[', ']', '$', '@', '{', '}'])
const SLICE = /^(-?\d*)(?:(:)(-?\d*))?(?:(:)(-?\d*))?$/
const WORD_START = /[\p{L}\p{Nd}_]/u
const DIGIT = /\d/
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
])

/** The path as a definition writes it, without braces. Throws JsonPathError. */
export function parseJsonPath(text: string): readonly PathNode[] {
  if (text.length > MAX_LENGTH) throw new JsonPathError(`a path has at most ${MAX_LENGTH} characters`)
  return new PathParser(text).parse()
}

class PathParser {
  readonly #text: string
  readonly #nodes: PathNode[] = []
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Up to the end, or to a brace that closes the path: what stands after it is never shown. */
  parse(): readonly PathNode[] {
    while (this.#at < this.#text.length && this.#peek() !== '}') this.#next()
    return this.#nodes
  }

  #peek(): string {
    return this.#text.charAt(this.#at)
  }

  #next(): void {
    if (this.#text.startsWith('[?(', this.#at)) this.#filter()
    else if (this.#text.startsWith('..', this.#at)) this.#descent()
    else {
      const char = this.#peek()
      if (char === ' ' || char === '@' || char === '$') this.#at++
      else if (char === '[') this.#array()
      else if (char === '"' || char === "'") this.#quote(char)
      else if (char === '.') {
        this.#at++
        this.#field()
      } else if (char === '+' || char === '-' || DIGIT.test(char)) this.#number()
      else if (WORD_START.test(char)) this.#word()
      else throw new JsonPathError(`unrecognized character in action: ${JSON.stringify(char)}`)
    }
  }

  #descent(): void {
    if (this.#nodes.at(-1)?.type === 'descent') throw new JsonPathError('invalid multiple recursive descent')
    this.#at += 2
    this.#nodes.push({ type: 'descent' })
    if (WORD_START.test(this.#peek())) this.#field()
  }

  #field(): void {
    const start = this.#at
    while (!TERMINATORS.has(this.#peek())) this.#at += this.#peek() === '\\' ? 2 : 1
    const name = this.#text.slice(start, this.#at)
    this.#at = Math.min(this.#at, this.#text.length)
    this.#nodes.push(name === '*' ? { type: 'wildcard' } : { type: 'field', name: name.replaceAll('\\', '') })
  }

  #word(): void {
    const start = this.#at
    while (!TERMINATORS.has(this.#peek())) this.#at++
    const word = this.#text.slice(start, this.#at)
    if (word === 'true' || word === 'false')
      this.#nodes.push({ type: 'literal', value: word === 'true', isFloat: false })
    else this.#nodes.push({ type: 'word', word })
  }

  #number(): void {
    const start = this.#at++
    while (this.#peek() === '.' || DIGIT.test(this.#peek())) this.#at++
    const text = this.#text.slice(start, this.#at)
    const value = Number(text)
    if (!/\d/.test(text) || Number.isNaN(value)) throw new JsonPathError(`cannot parse number ${text}`)
    this.#nodes.push({ type: 'literal', value, isFloat: text.includes('.') })
  }

  #quote(quote: string): void {
    let value = ''
    for (this.#at++; this.#peek() !== quote; this.#at++) {
      const char = this.#peek()
      if (char === '' || char === '\n') throw new JsonPathError('unterminated quoted string')
      if (char !== '\\') value += char
      else value += unescaped(this.#text.charAt(++this.#at), quote)
    }
    this.#at++
    this.#nodes.push({ type: 'literal', value, isFloat: false })
  }

  #array(): void {
    const end = this.#text.indexOf(']', this.#at)
    const inside = end < 0 ? '\n' : this.#text.slice(this.#at + 1, end)
    if (inside.includes('\n')) throw new JsonPathError('unterminated array')
    this.#at = end + 1
    this.#nodes.push(...selection(inside))
  }

  /** Quotes hold a parenthesis that does not end the filter; there is at most one pair of them. */
  #filter(): void {
    this.#at += 3
    const start = this.#at
    let quote: string | undefined
    let isClosed = false
    for (; ; this.#at++) {
      const char = this.#peek()
      if (char === '' || char === '\n') throw new JsonPathError('unterminated filter')
      if (char === '"' || char === "'") {
        if (quote === undefined) quote = char
        else if (char === quote && this.#text.charAt(this.#at - 1) !== '\\') isClosed = true
      } else if (char === ')' && (quote !== undefined) === isClosed) break
    }
    const inside = this.#text.slice(start, this.#at)
    if (this.#text.charAt(++this.#at) !== ']') throw new JsonPathError('unclosed array expect ]')
    this.#at++
    this.#nodes.push(filterOf(inside))
  }
}

/** What stands between brackets: several of them, a key in quotes, or a slice. */
function selection(inside: string): readonly PathNode[] {
  const parts = inside.split(',')
  if (parts.length > 1) return [{ type: 'union', paths: parts.map((part) => selection(part.trim())) }]
  const text = inside === '*' ? ':' : inside
  if (text.length >= 2 && text.startsWith("'") && text.indexOf("'", 1) === text.length - 1)
    return new PathParser(`.${text.slice(1, -1)}`).parse()
  return [{ type: 'array', slice: sliceOf(text) }]
}

function sliceOf(text: string): Slice {
  const match = SLICE.exec(text)
  if (match === null) throw new JsonPathError(`invalid array index ${text}`)
  const [, first = '', endMark, end = '', , step = ''] = match
  const start = indexOf(first)
  const isEndDerived = endMark === undefined
  return { start, end: isEndDerived ? (start ?? 0) + 1 : indexOf(end), isEndDerived, step: indexOf(step) }
}

function indexOf(text: string): number | undefined {
  if (text === '') return undefined
  const index = Number(text)
  if (!Number.isSafeInteger(index)) throw new JsonPathError(`array index ${text} is not a number`)
  return index
}

const OPERATOR_CHARS = '!<>='

function filterOf(text: string): PathNode {
  let from = 0
  while (from < text.length && !OPERATOR_CHARS.includes(text.charAt(from))) from++
  let to = from
  while (to < text.length && OPERATOR_CHARS.includes(text.charAt(to))) to++
  // What ends with its operator gives the last sign of it to the right side.
  if (to === text.length && to - from > 1) to--
  const parse = (part: string): readonly PathNode[] => new PathParser(part).parse()
  if (from === 0 || from === to || to === text.length)
    return { type: 'filter', left: parse(text), operator: 'exists', right: [] }
  return {
    type: 'filter',
    left: parse(text.slice(0, from)),
    operator: text.slice(from, to),
    right: parse(text.slice(to)),
  }
}

function unescaped(char: string, quote: string): string {
  if (char === quote) return char
  const found = ESCAPES.get(char)
  if (found === undefined) throw new JsonPathError(`unknown escape \\${char}`)
  return found
}

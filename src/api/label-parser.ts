/** Thread: any. The text form of label selectors: `app=web,tier in (front,back),!legacy,size>3`. */
import { type LabelOperator, LabelRequirement, LabelSelector, SelectorError, validateKey } from './labels.js'

interface Token {
  readonly kind: 'identifier' | 'end' | ',' | '(' | ')' | LabelOperator
  readonly text: string
}

const TOKEN = /[ \t\r\n]*(?:(==|!=|[=!<>(),])|([^ \t\r\n=!(),<>]+)|$)/y
const BINARY_OPERATORS: ReadonlySet<string> = new Set(['in', 'notin', '=', '==', '!=', '>', '<'])
const END: Token = { kind: 'end', text: '' }

function tokens(text: string): Token[] {
  const found: Token[] = []
  TOKEN.lastIndex = 0
  for (;;) {
    const match = TOKEN.exec(text)
    const [, symbol, word] = match ?? []
    if (symbol !== undefined) found.push({ kind: symbol as Token['kind'], text: symbol })
    else if (word !== undefined) found.push({ kind: 'identifier', text: word })
    else return [...found, END]
  }
}

class LabelParser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(text: string) {
    this.#tokens = tokens(text)
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = []
    for (;;) {
      const next = this.#peek()
      if (next.kind === 'end') return requirements
      if (next.kind !== 'identifier' && next.kind !== '!') throw unexpected(next, "!, identifier, or 'end of string'")
      requirements.push(this.#requirement())
      const after = this.#take()
      if (after.kind === 'end') return requirements
      if (after.kind !== ',') throw unexpected(after, "',' or 'end of string'")
      const following = this.#peek()
      if (following.kind !== 'identifier' && following.kind !== '!') throw unexpected(following, "identifier after ','")
    }
  }

  #requirement(): LabelRequirement {
    try {
      return this.#readRequirement()
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error
      throw new SelectorError(`unable to parse requirement: ${error.message}`)
    }
  }

  #readRequirement(): LabelRequirement {
    const negated = this.#peek().kind === '!'
    if (negated) this.#take()
    const key = this.#take()
    if (key.kind !== 'identifier') throw unexpected(key, 'identifier')
    validateKey(key.text)
    if (negated) return new LabelRequirement(key.text, '!', [])
    const next = this.#peek()
    if (next.kind === 'end' || next.kind === ',') return new LabelRequirement(key.text, 'exists', [])
    const operator = this.#operator()
    const values = operator === 'in' || operator === 'notin' ? this.#list() : [this.#exactValue()]
    return new LabelRequirement(key.text, operator, values)
  }

  /** `in` and `notin` are words like others, but for where an operator stands. */
  #operator(): LabelOperator {
    const token = this.#take()
    const text = token.kind === 'identifier' ? token.text : token.kind
    if (BINARY_OPERATORS.has(text)) return text as LabelOperator
    throw unexpected(token, 'in, notin, =, ==, !=, gt, lt')
  }

  #exactValue(): string {
    const next = this.#peek()
    if (next.kind === 'end' || next.kind === ',') return ''
    const token = this.#take()
    if (token.kind !== 'identifier') throw unexpected(token, 'identifier')
    return token.text
  }

  /** (a,b); what is missing between commas is the empty value. */
  #list(): string[] {
    const open = this.#take()
    if (open.kind !== '(') throw unexpected(open, "'('")
    const values: string[] = []
    let expectsValue = true
    for (;;) {
      const token = this.#take()
      if (token.kind === 'identifier' && expectsValue) {
        values.push(token.text)
        expectsValue = false
      } else if (token.kind === ',' || token.kind === ')') {
        if (expectsValue) values.push('')
        if (token.kind === ')') return values
        expectsValue = true
      } else throw unexpected(token, "',', ')' or identifier")
    }
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? END
  }

  #take(): Token {
    return this.#tokens[this.#at++] ?? END
  }
}

const unexpected = (token: Token, expected: string): SelectorError =>
  new SelectorError(`found '${token.text}', expected: ${expected}`)

/** Throws SelectorError. The empty text selects everything. */
export function parseLabelSelector(text: string): LabelSelector {
  return new LabelSelector(new LabelParser(text).parse())
}

/** Thread: any. Words of an expression. */

export type TokenKind = 'identifier' | 'quoted' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'operator' | 'end'

export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly at: number
}

export class CelSyntaxError extends Error {
  readonly code = 'CelSyntax'
  readonly at: number

  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

const SPACE = /[ \t\r\n\f]+|\/\/[^\n]*/y
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y
/** A name of a field between backticks. */
const QUOTED = /`[A-Za-z0-9_.\-/ ]+`/y
const NUMBER = /0[xX][0-9a-fA-F]+[uU]?|(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+[uU]?/y
const STRING_START = /(?:[bB]?[rR]?)(?:"""|'''|"|')/y
const OPERATOR = /&&|\|\||[<>=!]=|[-+*/%<>!?:.,()[\]{}]/y

const matchAt = (pattern: RegExp, source: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

/** All tokens, the last of which is `end`. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < source.length) {
    const space = matchAt(SPACE, source, at)
    if (space !== undefined) {
      at += space.length
      continue
    }
    const token = tokenAt(source, at)
    tokens.push(token)
    at += token.text.length
  }
  tokens.push({ kind: 'end', text: '<EOF>', at: source.length })
  return tokens
}

function tokenAt(source: string, at: number): Token {
  const start = matchAt(STRING_START, source, at)
  if (start !== undefined) return stringToken(source, at, start)
  const number = matchAt(NUMBER, source, at)
  if (number !== undefined) return { kind: numberKind(number), text: number, at }
  const identifier = matchAt(IDENTIFIER, source, at)
  if (identifier !== undefined) return { kind: identifier === 'in' ? 'operator' : 'identifier', text: identifier, at }
  const quoted = matchAt(QUOTED, source, at)
  if (quoted !== undefined) return { kind: 'quoted', text: quoted, at }
  const operator = matchAt(OPERATOR, source, at)
  if (operator !== undefined) return { kind: 'operator', text: operator, at }
  const wrong = String.fromCodePoint(source.codePointAt(at)!)
  throw new CelSyntaxError(`Syntax error: token recognition error at: '${wrong}'`, at)
}

function numberKind(text: string): TokenKind {
  if (/[uU]$/.test(text)) return 'uint'
  if (/^0[xX]/.test(text)) return 'int'
  return /[.eE]/.test(text) ? 'double' : 'int'
}

/** From its prefix to its last quote; what is escaped is not looked at yet. */
function stringToken(source: string, at: number, start: string): Token {
  const quote = /"""|'''|"|'/.exec(start)![0]
  const raw = /[rR]/.test(start)
  let i = at + start.length
  while (i < source.length) {
    if (!raw && source[i] === '\\') i += 2
    else if (source.startsWith(quote, i)) {
      const text = source.slice(at, i + quote.length)
      return { kind: /^[bB]/.test(start) ? 'bytes' : 'string', text, at }
    } else if (quote.length === 1 && (source[i] === '\n' || source[i] === '\r')) break
    else i++
  }
  throw new CelSyntaxError(`Syntax error: token recognition error at: '${source.slice(at, i)}'`, at)
}

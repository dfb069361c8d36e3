/** Thread: any. The words of an expression. */
import { lookupTable } from '../../lib/lookup-table.js'
import { CelSyntaxError, type LiteralType } from './syntax.js'

export interface Token {
  readonly kind: 'literal' | 'name' | 'field' | 'mark' | 'end'
  /** A mark or a name as it is written. */
  readonly text: string
  readonly at: number
  readonly literal?: { readonly type: LiteralType; readonly value: unknown }
}

const SPACE = /[ \t\n\f\r]+|\/\/[^\n]*/y
const NUMBER = /0[xX][0-9a-fA-F]+[uU]?|(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|\d+[uU]?/y
/** Longer ones are beyond 64 bits, or more exact than any double. */
const MAX_NUMBER = 1_000
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const ESCAPED_NAME = /`[A-Za-z0-9_.\-/ ]+`/y
const MARK = /&&|\|\||<=|>=|==|!=|[-!<>+*/%?:.,()[\]{}]/y
const TEXT =
  /([bBrR]{0,2})("""[\s\S]*?(?:[^\\]|(?:[^\\](?:\\\\)+))"""|""""""|'''[\s\S]*?(?:[^\\]|(?:[^\\](?:\\\\)+))'''|''''''|"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')/y
const RAW_TEXT = /([bB]?[rR][bB]?)("""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\n\r]*"|'[^'\n\r]*')/y
const ESCAPE = /\\(?:[abfnrtv\\?"'`]|x[0-9a-fA-F]{2}|X[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/g
const SIMPLE: Readonly<Record<string, string>> = lookupTable({
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
})
const CONSTANTS: Readonly<Record<string, Token['literal']>> = lookupTable({
  true: { type: 'bool', value: true },
  false: { type: 'bool', value: false },
  null: { type: 'null', value: null },
})

export function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(source)
  }
  while (at < source.length) {
    const space = match(SPACE)
    if (space !== null) {
      at += space[0].length
      continue
    }
    const token = textToken(match(RAW_TEXT) ?? match(TEXT), at) ?? numberToken(match(NUMBER)?.[0], at)
    const [name, escaped, mark] = [match(NAME)?.[0], match(ESCAPED_NAME)?.[0], match(MARK)?.[0]]
    if (token !== undefined) tokens.push(token.token)
    else if (name !== undefined) tokens.push(nameToken(name, at))
    else if (escaped !== undefined) tokens.push({ kind: 'field', text: escaped.slice(1, -1), at })
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark, at })
    else throw new CelSyntaxError(at, `token recognition error at: '${source[at]}'`)
    at += token?.length ?? (name ?? escaped ?? mark!).length
  }
  tokens.push({ kind: 'end', text: '<EOF>', at: source.length })
  return tokens
}

function nameToken(name: string, at: number): Token {
  const literal = Object.hasOwn(CONSTANTS, name) ? CONSTANTS[name] : undefined
  if (literal !== undefined) return { kind: 'literal', text: name, at, literal }
  return { kind: name === 'in' ? 'mark' : 'name', text: name, at }
}

function numberToken(text: string | undefined, at: number): { token: Token; length: number } | undefined {
  if (text === undefined) return undefined
  const unsigned = /[uU]$/.test(text)
  if (text.length > MAX_NUMBER) throw new CelSyntaxError(at, 'the number has too many digits')
  const isDouble = /[.eE]/.test(text) && !/^0[xX]/.test(text)
  const literal: Token['literal'] = isDouble
    ? { type: 'double', value: Number(text) }
    : { type: unsigned ? 'uint' : 'int', value: BigInt(unsigned ? text.slice(0, -1) : text) }
  return { token: { kind: 'literal', text, at, literal }, length: text.length }
}

function textToken(found: RegExpExecArray | null, at: number): { token: Token; length: number } | undefined {
  if (found === null) return undefined
  const [text, prefix = '', quoted = ''] = found
  const marks = quoted.startsWith('"""') || quoted.startsWith("'''") ? 3 : 1
  const body = quoted.slice(marks, -marks)
  const isRaw = /r/i.test(prefix)
  if (!isRaw && body.replace(ESCAPE, '').includes('\\')) throw new CelSyntaxError(at, 'invalid escape sequence')
  const value = isRaw ? body : body.replace(ESCAPE, unescaped)
  const type = /b/i.test(prefix) ? 'bytes' : 'string'
  return { token: { kind: 'literal', text, at, literal: { type, value } }, length: text.length }
}

function unescaped(text: string): string {
  const [mark, rest] = [text[1]!, text.slice(2)]
  if (/[xXuU]/.test(mark)) {
    const code = Number.parseInt(rest, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  }
  return /[0-3]/.test(mark) ? String.fromCodePoint(Number.parseInt(text.slice(1), 8)) : (SIMPLE[mark] ?? mark)
}

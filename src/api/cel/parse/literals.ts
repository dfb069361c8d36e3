/** Thread: any. Values of literals: numbers within their 64 bits, strings and bytes with what is escaped in them. */
import { Bytes } from '../values/bytes.js'
import { type CelValue, doubleValue, intValue, Uint } from '../values/value.js'
import { CelSyntaxError, type Token } from './tokens.js'

const MAX_INT = 2n ** 63n - 1n
const MAX_UINT = 2n ** 64n - 1n

/** `negative`: a minus stands before the number. */
export function literalValue(token: Token, negative: boolean): CelValue {
  switch (token.kind) {
    case 'int': {
      const value = negative ? -BigInt(token.text) : BigInt(token.text)
      if (value > MAX_INT || value < -MAX_INT - 1n) throw new CelSyntaxError('invalid int literal', token.at)
      return intValue(value)
    }
    case 'uint': {
      const value = BigInt(token.text.slice(0, -1))
      if (value > MAX_UINT || negative) throw new CelSyntaxError('invalid uint literal', token.at)
      return new Uint(value)
    }
    case 'double': {
      const value = Number(token.text)
      if (!Number.isFinite(value)) throw new CelSyntaxError('invalid double literal', token.at)
      return doubleValue(negative ? -value : value)
    }
    default:
      return textValue(token)
  }
}

function textValue({ text, kind, at }: Token): CelValue {
  const [, prefix, quote] = /^([bBrR]*)("""|'''|"|')/.exec(text)!
  const body = text.slice(prefix!.length + quote!.length, -quote!.length).replace(/\r\n?/g, '\n')
  const isBytes = kind === 'bytes'
  if (/[rR]/.test(prefix!)) return isBytes ? new Bytes(Buffer.from(body)) : body
  return isBytes ? new Bytes(unescapeBytes(body, at)) : unescapeString(body, at)
}

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ...(['a\x07', 'b\b', 'f\f', 'n\n', 'r\r', 't\t', 'v\v'] as const).map((pair) => [pair[0]!, pair[1]!] as const),
  ...['\\', "'", '"', '`', '?'].map((one) => [one, one] as const),
])
const ESCAPE = /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]))|\\$/g

interface Escaped {
  readonly text?: string
  readonly byte?: number
  readonly codePoint?: number
}

function escaped(groups: readonly (string | undefined)[], at: number): Escaped {
  const [hex, short, long, octal, simple] = groups
  if (hex !== undefined) return { byte: Number.parseInt(hex, 16) }
  if (octal !== undefined) return { byte: Number.parseInt(octal, 8) }
  const unicode = short ?? long
  if (unicode !== undefined) {
    const codePoint = Number.parseInt(unicode, 16)
    if (codePoint > 0x10ffff || (codePoint >= 0xd800 && codePoint < 0xe000))
      throw new CelSyntaxError('invalid unicode code point', at)
    return { codePoint }
  }
  const text = simple === undefined ? undefined : SIMPLE.get(simple)
  if (text === undefined) throw new CelSyntaxError('unable to unescape string', at)
  return { text }
}

const unescapeString = (body: string, at: number): string =>
  body.replace(ESCAPE, (_all, ...groups: (string | undefined)[]) => {
    const { text, byte, codePoint } = escaped(groups.slice(0, 5), at)
    return text ?? String.fromCodePoint(byte ?? codePoint!)
  })

function unescapeBytes(body: string, at: number): Uint8Array {
  const parts: Uint8Array[] = []
  let last = 0
  for (const match of body.matchAll(ESCAPE)) {
    const { text, byte, codePoint } = escaped(match.slice(1, 6), at)
    if (codePoint !== undefined) throw new CelSyntaxError('unable to unescape string', at)
    parts.push(Buffer.from(body.slice(last, match.index)), byte === undefined ? Buffer.from(text!) : Buffer.of(byte))
    last = match.index + match[0].length
  }
  parts.push(Buffer.from(body.slice(last)))
  return Buffer.concat(parts)
}

/**
 * Thread: any. Headers as HTTP/2 carries them (HPACK, RFC 7541). The connection says that it keeps no table of headers,
 * so both directions are plain: a request's headers are the same bytes for every call of a method, and an answer's can
 * be read without knowing what came before.
 */
import { decodeHuffman } from './huffman.js'

export type Headers = ReadonlyMap<string, string>

/** The headers that a server may name by number. */
const STATIC: readonly (readonly [name: string, value: string])[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  ...['200', '204', '206', '304', '400', '404', '500'].map((status) => [':status', status] as const),
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ...(
    'accept-language accept-ranges accept access-control-allow-origin age allow authorization cache-control ' +
    'content-disposition content-encoding content-language content-length content-location content-range content-type ' +
    'cookie date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since ' +
    'last-modified link location max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after ' +
    'server set-cookie strict-transport-security transfer-encoding user-agent vary via www-authenticate'
  )
    .split(' ')
    .map((name) => [name, ''] as const),
]

export class HpackError extends Error {
  override readonly name = 'HpackError'
}

/** Encodes literals without indexing; pseudo-headers come first. */
export function encodeHeaders(headers: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = []
  for (const [name, value] of Object.entries(headers))
    parts.push(Buffer.from([0]), encodeString(name), encodeString(value))
  return Buffer.concat(parts)
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([encodeLength(bytes.length), bytes])
}

/** A length: in seven bits, with further bytes of seven bits as needed. */
function encodeLength(length: number): Buffer {
  if (length < 127) return Buffer.from([length])
  const bytes = [127]
  let rest = length - 127
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}

/**
 * The most blocks that are remembered, and the longest of them: enough for all that a healthy server sends, and little
 * memory.
 */
const MAX_KNOWN_BLOCKS = 64
const MAX_KNOWN_BYTES = 128

/**
 * Reads blocks of headers, and remembers them: a server answers most calls with the same few blocks, and Huffman-coded
 * strings take ten microseconds to read.
 */
export class HeaderReader {
  readonly #known = new Map<string, Headers>()

  /** The headers of a block. Throws HpackError. */
  read(block: Buffer): Headers {
    if (block.length > MAX_KNOWN_BYTES) return new BlockReader(block).headers()
    const name = block.toString('latin1')
    let headers = this.#known.get(name)
    if (headers === undefined) {
      headers = new BlockReader(block).headers()
      if (this.#known.size < MAX_KNOWN_BLOCKS) this.#known.set(name, headers)
    }
    return headers
  }
}

class BlockReader {
  readonly #block: Buffer
  #at = 0

  constructor(block: Buffer) {
    this.#block = block
  }

  headers(): Headers {
    const headers = new Map<string, string>()
    while (this.#at < this.#block.length) {
      const first = this.#block[this.#at]!
      if (first >= 0x80) headers.set(...this.#known(this.#integer(7)))
      // The block changes the size of the header table, which is always empty here.
      else if (first >= 0x20 && first < 0x40) this.#integer(5)
      else {
        // The header is a literal. Indexing asks for it to be kept in the table, which does not exist here.
        const index = this.#integer(first >= 0x40 ? 6 : 4)
        const name = index === 0 ? this.#string() : this.#known(index)[0]
        headers.set(name, this.#string())
      }
    }
    return headers
  }

  #known(index: number): readonly [string, string] {
    const found = STATIC[index - 1]
    if (found === undefined) throw new HpackError(`header ${index} was never said`)
    return found
  }

  #byte(): number {
    const byte = this.#block[this.#at++]
    if (byte === undefined) throw new HpackError('headers end too soon')
    return byte
  }

  #integer(bits: number): number {
    const most = 2 ** bits - 1
    let value = this.#byte() & most
    if (value < most) return value
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#byte()
      value += (byte & 127) * factor
      if (value > 2 ** 31) throw new HpackError('a number too large')
      if (byte < 128) return value
    }
  }

  #string(): string {
    const isHuffman = (this.#block[this.#at] ?? 0) >= 0x80
    const length = this.#integer(7)
    const end = this.#at + length
    if (end > this.#block.length) throw new HpackError('headers end too soon')
    const bytes = this.#block.subarray(this.#at, end)
    this.#at = end
    if (!isHuffman) return bytes.toString('latin1')
    const text = decodeHuffman(bytes)
    if (text === undefined) throw new HpackError('a string that cannot be read')
    return text
  }
}

/** Thread: any. Whom a PKCS #10 request is for: the names in its subject. */
import { firstPemBlock } from '../../api/pem.js'

const SEQUENCE = 0x30
const SET = 0x31
const UTF16 = 0x1e
/** The object identifiers 2.5.4.3 and 2.5.4.10, as their bytes in hex. */
const COMMON_NAME = '550403'
const ORGANIZATION = '55040a'

export interface RequestSubject {
  readonly commonNames: readonly string[]
  readonly organizations: readonly string[]
}

interface Element {
  readonly tag: number
  readonly content: Buffer
}

/** The subject of a request, which is given as the base64 of a PEM file; undefined when it is no request. */
export function requestSubject(base64: string): RequestSubject | undefined {
  const block = firstPemBlock(Buffer.from(base64, 'base64').toString('latin1'))
  if (block?.type !== 'CERTIFICATE REQUEST') return undefined
  const whole = elements(block.bytes)
  if (whole?.length !== 1) return undefined
  const [info] = inside(whole[0], SEQUENCE) ?? []
  const subject = inside(info, SEQUENCE)?.[1]
  const names = inside(subject, SEQUENCE)
  if (names === undefined) return undefined
  const commonNames: string[] = []
  const organizations: string[] = []
  for (const set of names) {
    for (const pair of inside(set, SET) ?? []) {
      const [type, value] = inside(pair, SEQUENCE) ?? []
      if (type === undefined || value === undefined) return undefined
      const kind = type.content.toString('hex')
      if (kind === COMMON_NAME) commonNames.push(textOf(value))
      if (kind === ORGANIZATION) organizations.push(textOf(value))
    }
  }
  return { commonNames, organizations }
}

function textOf({ tag, content }: Element): string {
  return tag === UTF16 && content.length % 2 === 0
    ? Buffer.from(content).swap16().toString('utf16le')
    : content.toString('utf8')
}

const inside = (element: Element | undefined, tag: number): Element[] | undefined =>
  element?.tag === tag ? elements(element.content) : undefined

/** The elements of a sequence; undefined when the bytes end too early. */
function elements(data: Buffer): Element[] | undefined {
  const found: Element[] = []
  for (let i = 0; i < data.length; ) {
    const tag = data[i++]!
    let length = data[i++] ?? -1
    if (length > 0x80) {
      const count = length & 0x7f
      if (count > 4 || i + count > data.length) return undefined
      length = data.readUIntBE(i, count)
      i += count
    }
    if (length < 0 || i + length > data.length) return undefined
    found.push({ tag, content: data.subarray(i, i + length) })
    i += length
  }
  return found
}

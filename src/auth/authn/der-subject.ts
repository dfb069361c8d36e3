/**
 * Thread: any. The subject of a certificate from its DER. node:crypto gives subjects as text only, in which names are
 * escaped and joined; who somebody is must not hang on taking that apart again.
 */
export class DerError extends Error {
  override readonly name = 'DerError'
}

export interface CertificateSubject {
  /** The last one, as Go has it; '' without. */
  readonly commonName: string
  /** In order. */
  readonly organizations: readonly string[]
  /** Kubernetes' own attribute. */
  readonly uids: readonly string[]
}

const SEQUENCE = 0x30
const SET = 0x31
const OBJECT_IDENTIFIER = 0x06
const VERSION = 0xa0

const COMMON_NAME = '550403'
const ORGANIZATION = '55040a'
/** 1.3.6.1.4.1.57683.2 */
const KUBERNETES_UID = '2b0601040183c35302'

export function certificateSubject(der: Uint8Array): CertificateSubject {
  const certificate = new DerReader(der).expect(SEQUENCE)
  const body = certificate.expect(SEQUENCE)
  if (body.tag() === VERSION) body.next()
  // serial number, signature algorithm, issuer, validity
  for (let i = 0; i < 4; i++) body.next()
  const subject = body.expect(SEQUENCE)
  let commonName = ''
  const organizations: string[] = []
  const uids: string[] = []
  while (!subject.done()) {
    const set = subject.expect(SET)
    while (!set.done()) {
      const attribute = set.expect(SEQUENCE)
      const type = Buffer.from(attribute.expect(OBJECT_IDENTIFIER).bytes()).toString('hex')
      if (type === COMMON_NAME) commonName = attribute.text()
      else if (type === ORGANIZATION) organizations.push(attribute.text())
      else if (type === KUBERNETES_UID) uids.push(attribute.text())
    }
  }
  return { commonName, organizations, uids }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })
/** UTF8String, NumericString, PrintableString, TeletexString, IA5String. */
const BYTE_STRINGS: ReadonlySet<number> = new Set([0x0c, 0x12, 0x13, 0x14, 0x16])
const BMP_STRING = 0x1e

class DerReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  done(): boolean {
    return this.#at >= this.#bytes.byteLength
  }

  /** Of the next element. */
  tag(): number {
    const tag = this.#bytes[this.#at]
    if (tag === undefined) throw new DerError('an element is missing')
    return tag
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(this.#at)
  }

  /** The content of the next element, which is stepped over. */
  next(): DerReader {
    this.tag()
    const first = this.#bytes[this.#at + 1]
    if (first === undefined) throw new DerError('a length is missing')
    let start = this.#at + 2
    let length = first
    if (first >= 0x80) {
      const digits = first & 0x7f
      if (digits === 0 || digits > 4) throw new DerError('a length is not DER')
      length = 0
      for (let i = 0; i < digits; i++) length = length * 256 + (this.#bytes[start + i] ?? 0)
      start += digits
    }
    if (start + length > this.#bytes.byteLength) throw new DerError('an element is cut off')
    this.#at = start + length
    return new DerReader(this.#bytes.subarray(start, start + length))
  }

  expect(tag: number): DerReader {
    if (this.tag() !== tag) throw new DerError(`an element of type ${tag} is missing`)
    return this.next()
  }

  text(): string {
    const tag = this.tag()
    const content = this.next().bytes()
    try {
      if (BYTE_STRINGS.has(tag)) return UTF8.decode(content)
      if (tag === BMP_STRING && content.byteLength % 2 === 0)
        return new TextDecoder('utf-16be', { fatal: true }).decode(content)
    } catch (error) {
      throw new DerError(`a name is not text: ${String(error)}`)
    }
    throw new DerError('a name is of a type that is no text')
  }
}

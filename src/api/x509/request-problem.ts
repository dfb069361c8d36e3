/** Thread: any. Reads a PKCS #10 request as far as needed to say whether it is one and is signed by its own key. */

import { createPublicKey, verify } from 'node:crypto'
import { lookupTable } from '../../lib/lookup-table.js'
import { firstPemBlock } from '../pem.js'

const SEQUENCE = 0x30
const BIT_STRING = 0x03

/** Object identifiers of signature algorithms, as their bytes in hex, and the digest that node knows them by. */
const DIGESTS: Readonly<Record<string, string | null>> = lookupTable({
  '2a864886f70d010105': 'sha1',
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
  '2b6570': null,
})

interface Element {
  readonly tag: number
  /** With its header. */
  readonly whole: Buffer
  readonly content: Buffer
}

class RequestError extends Error {
  override readonly name = 'RequestError'
}

function elements(data: Buffer): Element[] {
  const found: Element[] = []
  for (let i = 0; i < data.length; ) {
    const start = i
    const tag = data[i++]!
    let length = data[i++] ?? -1
    if (length > 0x80) {
      const count = length & 0x7f
      if (count > 4 || i + count > data.length) throw new RequestError('a length is malformed')
      length = data.readUIntBE(i, count)
      i += count
    }
    if (length < 0 || i + length > data.length) throw new RequestError('it ends too early')
    found.push({ tag, whole: data.subarray(start, i + length), content: data.subarray(i, i + length) })
    i += length
  }
  return found
}

function inside(element: Element | undefined, tag: number): Element[] {
  if (element?.tag !== tag) throw new RequestError('it is not built as a request is')
  return elements(element.content)
}

/** Why the base64 of a PEM file is no certificate request; undefined when it is one. */
export function requestProblem(base64: string): string | undefined {
  const block = firstPemBlock(Buffer.from(base64, 'base64').toString('latin1'))
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST'
  try {
    return signatureProblem(block.bytes)
  } catch (error) {
    if (error instanceof Error) return error.message
    throw error
  }
}

function signatureProblem(der: Buffer): string | undefined {
  const [request, ...more] = elements(der)
  if (more.length > 0) return 'other bytes follow it'
  const [info, algorithm, signature] = inside(request, SEQUENCE)
  const [, , publicKey] = inside(info, SEQUENCE)
  const [identifier] = inside(algorithm, SEQUENCE)
  const digest = DIGESTS[identifier?.content.toString('hex') ?? '']
  if (publicKey === undefined || signature?.tag !== BIT_STRING) return 'it is not built as a request is'
  if (digest === undefined) return 'its signature algorithm is unknown'
  const key = createPublicKey({ key: publicKey.whole, format: 'der', type: 'spki' })
  // The first byte of a bit string says how many bits at its end are not used.
  return verify(digest, info!.whole, key, signature.content.subarray(1)) ? undefined : 'its signature is wrong'
}

/**
 * Thread: any. How much a request's body may become. Bytes alone do not bound it: `{},` takes three, and an object with its
 * defaults some hundreds. Every member, item and object counts as one value, in JSON, YAML and protobuf alike; what is
 * stored already is read without this limit.
 */

/**
 * Fifteen bytes for each value of the longest body. A ConfigMap of 50,000 keys or a Role of 99,000 names stays far below it; what
 * it lets through becomes some 100 MB at the worst, objects of ten defaulted members each.
 */
export const MAX_DECODED_VALUES = 200_000

export class DecodedSizeError extends Error {
  override readonly name = 'DecodedSizeError'
  constructor() {
    super(`the body holds more than ${MAX_DECODED_VALUES} values`)
  }
}

/** The shortest value takes a digit and a comma: shorter bodies need not be looked at. */
const SHORTEST_VALUE_BYTES = 2

/** Throws DecodedSizeError. Bytes that are no JSON are the parser's to refuse. */
export function checkJsonSize(bytes: Uint8Array): void {
  if (bytes.length < MAX_DECODED_VALUES * SHORTEST_VALUE_BYTES) return
  let values = 0
  for (let at = 0; at < bytes.length; at++) {
    const c = bytes[at]
    if (c === 0x22) at = endOfText(bytes, at + 1)
    else if ((c === 0x2c || c === 0x7b || c === 0x5b) && ++values > MAX_DECODED_VALUES) throw new DecodedSizeError()
  }
}

function endOfText(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== 0x22) at += bytes[at] === 0x5c ? 2 : 1
  return at
}

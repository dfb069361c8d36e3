/** A reader of protobuf that knows nothing of Kubernetes: fields by number, in the order in which they stand. */
export interface WireField {
  readonly number: number
  /** A whole number, or the bytes of a string or message. */
  readonly value: bigint | Buffer
}

export function readFields(bytes: Buffer): WireField[] {
  const fields: WireField[] = []
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('the message ends within a number')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const number = tag >> 3
    if ((tag & 7) === 0) fields.push({ number, value: varint() })
    else if ((tag & 7) === 2) {
      const length = Number(varint())
      fields.push({ number, value: bytes.subarray(at, at + length) })
      at += length
    } else throw new Error(`wire type ${tag & 7}`)
  }
  return fields
}

const bytesOf = (message: Buffer, number: number): Buffer[] =>
  readFields(message)
    .filter((field) => field.number === number)
    .map(({ value }) => value as Buffer)

/** The message that a path of field numbers leads to, taking the first of each. */
export function at(message: Buffer, ...path: number[]): Buffer {
  let found = message
  for (const number of path) {
    const [next] = bytesOf(found, number)
    if (next === undefined) throw new Error(`there is no field ${number}`)
    found = next
  }
  return found
}

export const texts = (message: Buffer, number: number): string[] => bytesOf(message, number).map((b) => b.toString())

/** Entries of a map of strings, in the order in which they stand. */
export const entries = (message: Buffer, number: number): [string, string][] =>
  bytesOf(message, number).map((entry) => [at(entry, 1).toString(), at(entry, 2).toString()])

// And a writer of the same kind.

function varintBytes(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}

export function field(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === 'number') return Buffer.concat([varintBytes(number * 8), varintBytes(value)])
  const bytes = Buffer.from(value as string)
  return Buffer.concat([varintBytes(number * 8 + 2), varintBytes(bytes.length), bytes])
}

export const message = (...fields: Buffer[]): Buffer => Buffer.concat(fields)

/** Thread: any. The few kinds of DER elements that certificates are made of. */

const UNIVERSAL = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

export function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.byteLength)]), content])
}

function lengthOf(bytes: number): number[] {
  if (bytes < 0x80) return [bytes]
  const digits: number[] = []
  for (let rest = bytes; rest > 0; rest >>>= 8) digits.unshift(rest & 0xff)
  return [0x80 | digits.length, ...digits]
}

export const sequence = (...elements: readonly Uint8Array[]): Buffer => element(UNIVERSAL.sequence, ...elements)
export const set = (...elements: readonly Uint8Array[]): Buffer => element(UNIVERSAL.set, ...elements)
export const octetString = (content: Uint8Array): Buffer => element(UNIVERSAL.octetString, content)
export const utf8String = (text: string): Buffer => element(UNIVERSAL.utf8, Buffer.from(text))
export const trueValue = (): Buffer => element(UNIVERSAL.boolean, Buffer.of(0xff))

/** An integer of unsigned, big-endian digits. */
export function integer(digits: Uint8Array): Buffer {
  let start = 0
  while (start < digits.byteLength - 1 && digits[start] === 0) start++
  const shortest = digits.subarray(start)
  return element(UNIVERSAL.integer, (shortest[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), shortest]) : shortest)
}

/** `unused`: how many bits at the end do not count. */
export const bitString = (content: Uint8Array, unused = 0): Buffer =>
  element(UNIVERSAL.bitString, Buffer.of(unused), content)

/** An object identifier of dotted text. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const arc of rest) {
    const digits = [arc & 0x7f]
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) digits.unshift((left & 0x7f) | 0x80)
    bytes.push(...digits)
  }
  return element(UNIVERSAL.oid, Buffer.from(bytes))
}

/** A time; years from 2050 on have the longer form. */
export function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`
  return text < '2050'
    ? element(UNIVERSAL.utcTime, Buffer.from(text.slice(2)))
    : element(UNIVERSAL.generalizedTime, Buffer.from(text))
}

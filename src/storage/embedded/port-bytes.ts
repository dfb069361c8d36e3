/** Thread: any. Bytes that go over a MessagePort. */

/** The bytes as the whole of an ArrayBuffer: cloning a smaller view would copy everything around it. */
export function exactBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes
  const whole = buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength
  return whole ? new Uint8Array(buffer) : new Uint8Array(bytes)
}

/** Below this size moving costs more than copying (two pointers and a detached buffer against a memcpy). */
const MIN_TRANSFER_BYTES = 16 * 1024

/** Marks bytes that their owner gives away; a buffer may stand in the list only once. */
export function giveAway(bytes: Uint8Array<ArrayBuffer>, transfers: ArrayBuffer[]): void {
  if (bytes.byteLength >= MIN_TRANSFER_BYTES) transfers.push(bytes.buffer)
}

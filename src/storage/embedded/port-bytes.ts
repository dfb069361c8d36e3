/** Thread: any. Bytes for a MessagePort. */

/** The whole of an ArrayBuffer: cloning a smaller view would copy everything that lies around it. */
export function exactBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes
  const whole = buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength
  return whole ? new Uint8Array(buffer) : new Uint8Array(bytes)
}

/** Moving costs more than copying below this (two pointers and a detached buffer against a memcpy). */
const MIN_TRANSFER_BYTES = 16 * 1024

/** Marks bytes that their owner gives away; a buffer may be in the list only once. */
export function giveAway(bytes: Uint8Array<ArrayBuffer>, transfers: ArrayBuffer[]): void {
  if (bytes.byteLength >= MIN_TRANSFER_BYTES) transfers.push(bytes.buffer)
}

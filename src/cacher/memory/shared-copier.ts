/**
 * Thread: any. Copies bytes out of shared memory. `set` of a typed array copies between shared and other memory byte by byte,
 * unless source and target have the same alignment within a word: 2.8 ms for a list of 4 MB. Buffer's `fill` is Node's own memcpy,
 * wherever the bytes lie: 0.55 ms. Nobody writes to a record that is pinned, so nothing is lost by not copying atomically.
 */

/** Below this size the call into Node costs more than it saves. */
const MIN_BYTES = 64

export function copyBytes(source: Uint8Array, target: Buffer, at: number): void {
  const { length } = source
  if (length < MIN_BYTES || !(source.buffer instanceof SharedArrayBuffer)) target.set(source, at)
  else target.fill(source, at, at + length)
}

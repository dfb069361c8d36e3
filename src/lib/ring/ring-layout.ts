/**
 * Thread: any. A ring of frames in shared memory, from one thread that writes to one thread that reads.
 *
 *   word 0     head: where the next frame goes, in bytes since the beginning. Writer: the sender, after the frame.
 *   word 16    tail: what was read, likewise. Writer: the receiver, after it has copied what it needs.
 *   word 32    parked: 1 while the receiver sleeps until it is woken. Set by the receiver, cleared by whoever wakes it.
 *   byte 192   the frames. Both counts wrap at 2^32; a place in the ring is a count modulo its capacity, a power of two.
 *
 *   frame      ┌ int32 bytes of the whole frame ┬ int32 words ┬ int32 bytes of text ┬ int32 ┬ words ┬ text ┬ blobs ┐
 *              and no frame goes over the end of the ring: a length of SKIP says that the next one is at its beginning.
 *
 * Order: the sender stores head, then looks at parked; the receiver stores parked, then looks at head, all sequentially
 * consistent. So either the receiver sees the frame or the sender sees that it has to wake the receiver.
 * Words stand on cache lines of their own, because each is written by another thread than its neighbour.
 */
export const HEAD = 0
export const TAIL = 16
export const PARKED = 32
export const DATA_BYTE = 192
export const FRAME_HEADER_BYTES = 16
export const SKIP = -1

/** Frames begin at multiples of this, so that their words can be read in place. */
export const aligned = (bytes: number): number => (bytes + 7) & ~7

/** `capacity`, a power of two, is how many bytes of frames may wait. */
export function createRing(capacity: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(DATA_BYTE + capacity)
  new Int32Array(memory)[PARKED] = 1
  return memory
}

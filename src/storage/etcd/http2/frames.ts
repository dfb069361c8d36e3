/** Thread: any. HTTP/2's frames (RFC 9113): cut from what the socket gives, and made. */

export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const Flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const

export const Setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
} as const

export const ErrorCode = {
  noError: 0,
  protocolError: 1,
  flowControlError: 3,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
} as const

export const HEADER_BYTES = 9
/** The most that a frame may carry unless the other side allows more, which we never do. */
export const MAX_FRAME_BYTES = 16 * 1024
export const DEFAULT_WINDOW_BYTES = 65_535
const STREAM_ID_BITS = 0x7fff_ffff

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  /** A view of what the socket gave. */
  readonly payload: Buffer
}

export class FrameTooLarge extends Error {
  override readonly name = 'FrameTooLarge'
}

export class FrameReader {
  #rest: Buffer | undefined

  /** Gives the frames that the chunk completes to `take`. Throws FrameTooLarge. */
  push(chunk: Buffer, take: (frame: Frame) => void): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = undefined
    let at = 0
    while (bytes.length - at >= HEADER_BYTES) {
      const length = bytes.readUIntBE(at, 3)
      if (length > MAX_FRAME_BYTES) throw new FrameTooLarge(`a frame of ${length} bytes`)
      const end = at + HEADER_BYTES + length
      if (end > bytes.length) break
      take({
        type: bytes[at + 3]!,
        flags: bytes[at + 4]!,
        stream: bytes.readUInt32BE(at + 5) & STREAM_ID_BITS,
        payload: bytes.subarray(at + HEADER_BYTES, end),
      })
      at = end
    }
    if (at < bytes.length) this.#rest = bytes.subarray(at)
  }
}

/** The content of a frame, without padding and priority; undefined when the lengths do not add up. */
export function content({ type, flags, payload }: Frame): Buffer | undefined {
  let start = 0
  let end = payload.length
  if ((flags & Flag.padded) !== 0) {
    start = 1
    end -= payload[0] ?? 0
  }
  if (type === FrameType.headers && (flags & Flag.priority) !== 0) start += 5
  return start > end ? undefined : payload.subarray(start, end)
}

export function writeFrameHeader(
  into: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  id: number,
): void {
  into.writeUIntBE(length, at, 3)
  into[at + 3] = type
  into[at + 4] = flags
  into.writeUInt32BE(id, at + 5)
}

export function frame(type: number, flags: number, id: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + payload.byteLength)
  writeFrameHeader(bytes, 0, payload.byteLength, type, flags, id)
  bytes.set(payload, HEADER_BYTES)
  return bytes
}

export function windowUpdate(id: number, bytes: number): Buffer {
  const payload = Buffer.allocUnsafe(4)
  payload.writeUInt32BE(bytes)
  return frame(FrameType.windowUpdate, 0, id, payload)
}

export function rstStream(id: number, code: number): Buffer {
  const payload = Buffer.allocUnsafe(4)
  payload.writeUInt32BE(code)
  return frame(FrameType.rstStream, 0, id, payload)
}

export function settings(values: readonly (readonly [setting: number, value: number])[]): Buffer {
  const payload = Buffer.allocUnsafe(values.length * 6)
  for (const [i, [setting, value]] of values.entries()) {
    payload.writeUInt16BE(setting, i * 6)
    payload.writeUInt32BE(value, i * 6 + 2)
  }
  return frame(FrameType.settings, 0, 0, payload)
}

export const settingsAck = (): Buffer => frame(FrameType.settings, Flag.ack, 0, Buffer.alloc(0))

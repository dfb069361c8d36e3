/**
 * Thread: any. gRPC's frames: five bytes before each message, which say whether it is compressed and how long it is.
 */
import { GrpcError, GrpcStatus, ReplyTooLargeError } from './grpc-error.js'

export const FRAME_HEADER_BYTES = 5

export function grpcFrame(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, FRAME_HEADER_BYTES)
  return frame
}

/** Cuts the bytes of a stream into messages, wherever the chunks happen to end. */
export class GrpcFramer {
  readonly #maxMessageBytes: number
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES)
  #headerFilled = 0
  /** The body of the message that spans chunks, as far as it has come. */
  #body: Buffer | undefined
  #bodyFilled = 0

  constructor(maxMessageBytes = Number.POSITIVE_INFINITY) {
    this.#maxMessageBytes = maxMessageBytes
  }

  /**
   * Gives the messages that this chunk completes. Those that lie within the chunk are views of it, the others a copy.
   */
  push(chunk: Buffer): Buffer[] {
    const messages: Buffer[] = []
    let at = 0
    while (at < chunk.length) {
      if (this.#body !== undefined) {
        const copied = chunk.copy(this.#body, this.#bodyFilled, at)
        at += copied
        this.#bodyFilled += copied
        if (this.#bodyFilled < this.#body.length) break
        messages.push(this.#body)
        this.#body = undefined
        continue
      }
      const copied = chunk.copy(this.#header, this.#headerFilled, at)
      at += copied
      this.#headerFilled += copied
      if (this.#headerFilled < FRAME_HEADER_BYTES) break
      this.#headerFilled = 0
      const length = this.#announcedLength()
      if (chunk.length - at >= length) {
        messages.push(chunk.subarray(at, at + length))
        at += length
      } else {
        this.#body = Buffer.allocUnsafe(length)
        this.#bodyFilled = 0
      }
    }
    return messages
  }

  /** Whether a message has begun and is not complete. */
  get midway(): boolean {
    return this.#headerFilled > 0 || this.#body !== undefined
  }

  #announcedLength(): number {
    if (this.#header[0] !== 0) throw new GrpcError(GrpcStatus.unknown, 'a compressed message was not asked for')
    const length = this.#header.readUInt32BE(1)
    if (length > this.#maxMessageBytes) throw new ReplyTooLargeError(length)
    return length
  }
}

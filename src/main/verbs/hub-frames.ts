/**
 * Thread: main. The frames that all watchers of one audience are sent together: joined for HTTP streams, one by one for
 * WebSockets.
 */
export class HubFrames {
  readonly frames: readonly Uint8Array[]
  /** The revision of the last event. */
  readonly revision: number
  #joined: Uint8Array | undefined

  constructor(frames: readonly Uint8Array[], revision: number) {
    this.frames = frames
    this.revision = revision
  }

  joined(): Uint8Array {
    this.#joined ??= this.frames.length === 1 ? this.frames[0]! : Buffer.concat(this.frames)
    return this.#joined
  }
}

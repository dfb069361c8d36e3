/**
 * Thread: main. What watchers who ask for the same are shown at once: joined for those who read a stream, one by one for
 * WebSockets.
 */
export class HubFrames {
  readonly frames: readonly Uint8Array[]
  /** Of the last one. */
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

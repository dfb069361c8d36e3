/** Thread: main. The far side of an exchange. */

/** What is used of uWebSockets.js' HttpResponse. */
export interface ResponsePort {
  writeStatus(status: string): unknown
  writeHeader(name: string, value: string): unknown
  write(chunk: Uint8Array | string): boolean
  end(body?: Uint8Array | string, closeConnection?: boolean): unknown
  tryEnd(chunk: Uint8Array, totalSize: number): [ok: boolean, done: boolean]
  onWritable(handler: (offset: number) => boolean): unknown
  onAborted(handler: () => void): unknown
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown
  getWriteOffset(): number
  cork(callback: () => void): unknown
  close(): unknown
  pause(): void
  resume(): void
  getRemoteAddressAsText(): ArrayBuffer
  /** PEM; empty without one. 17 µs with one. */
  getX509Certificate?(): string
}

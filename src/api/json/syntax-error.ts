/** Thread: any. Text that is not JSON, and where it stops being it. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
  /** Of the byte at which the text went wrong. */
  readonly offset: number

  constructor(message: string, offset: number) {
    super(`${message} (at byte ${offset})`)
    this.offset = offset
  }
}

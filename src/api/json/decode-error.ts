/** Thread: any. A value that does not fit its field. The message is what clients of Kubernetes are used to read. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError'
  /** spec.containers.image: fields only, without indexes and map keys. */
  readonly field: string

  constructor(message: string, field: string) {
    super(message)
    this.field = field
  }
}

/** Thread: any. Bytes that are no message of the type that they should be, or a tree that its message cannot carry. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError'
  readonly code = 'Protobuf'
}

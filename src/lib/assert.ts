/** Thread: any. A failed assertion is a programmer's error: the thread is meant to crash. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

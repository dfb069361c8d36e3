/** Thread: any. A failed assertion is a programmer's error: the thread is meant to crash. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** For the default branch of a switch over a union. */
export function assertNever(value: never, what: string): never {
  throw new AssertionError(`unexpected ${what}: ${String(value)}`)
}

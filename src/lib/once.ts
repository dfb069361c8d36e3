/** Thread: any. A thing that is made when it is first asked for, and the same one ever after. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

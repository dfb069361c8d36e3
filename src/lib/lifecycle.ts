/** Thread: any. Things that are opened in order and closed in reverse, each exactly once. */
export interface Closable {
  close(): Promise<void> | void
}

export class Lifecycle implements Closable {
  #opened: { name: string; thing: Closable }[] = []
  #closing: Promise<void> | undefined

  /** Remembers what must be closed later and hands it back. */
  own<T extends Closable>(name: string, thing: T): T {
    this.#opened.push({ name, thing })
    return thing
  }

  /** Closes everything in reverse order; goes on after a failure and reports all of them at the end. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    const failures: Error[] = []
    for (const { name, thing } of this.#opened.reverse()) {
      try {
        await thing.close()
      } catch (cause) {
        failures.push(new Error(`closing ${name} failed`, { cause }))
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map((f) => f.message).join('; '))
  }
}

/**
 * Thread: any. The calls that one end of a port has sent and not had answered, each under the id that its answer will
 * carry. Storage calls go through here: an object and a promise for each, and no more.
 */
interface PendingCall<R> {
  readonly resolve: (result: R) => void
  readonly reject: (error: Error) => void
  /** Ends what is kept up only until the call is settled, as a timer; most calls have nothing of the kind. */
  readonly release: (() => void) | undefined
}

export class PendingCalls<R> {
  readonly #calls = new Map<number, PendingCall<R>>()
  #lastId = 0

  /** An id that no other message of this end has, be it a call or something that nobody answers. */
  nextId(): number {
    return ++this.#lastId
  }

  /** The answer to the call with this id. `release` is called when the call is settled, however that comes. */
  wait(id: number, release?: () => void): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject, release })
    })
  }

  has(id: number): boolean {
    return this.#calls.has(id)
  }

  /** Both settle one call; they answer false, and do nothing, when it was settled before. */
  resolve(id: number, result: R): boolean {
    const call = this.#take(id)
    call?.resolve(result)
    return call !== undefined
  }

  reject(id: number, error: Error): boolean {
    const call = this.#take(id)
    call?.reject(error)
    return call !== undefined
  }

  /** Both settle every call, when the other end is gone and no answer will come. */
  resolveAll(result: R): void {
    for (const id of [...this.#calls.keys()]) this.resolve(id, result)
  }

  rejectAll(error: Error): void {
    for (const id of [...this.#calls.keys()]) this.reject(id, error)
  }

  #take(id: number): PendingCall<R> | undefined {
    const call = this.#calls.get(id)
    if (call === undefined) return undefined
    this.#calls.delete(id)
    call.release?.()
    return call
  }
}

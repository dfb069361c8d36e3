/**
 * Thread: any. Says that nobody waits for some work any longer, and tells who listens. An AbortSignal says the same,
 * but one a request costs as much as a seventh of a write; a Cancellation costs an object, and an array once somebody
 * listens.
 */

/** The part of a signal that is used; an AbortSignal is one. */
export interface CancelSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** What a wait that a signal has ended rejects with. */
export function abortReason(signal: CancelSignal | undefined): Error {
  const reason = signal?.reason
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}

/** Listeners are called once, in the order in which they came. */
export class Cancellation implements CancelSignal {
  #aborted = false
  #reason: unknown
  #listeners: (() => void)[] | undefined

  get aborted(): boolean {
    return this.#aborted
  }

  get reason(): unknown {
    return this.#reason
  }

  abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    const listeners = this.#listeners
    this.#listeners = undefined
    if (listeners !== undefined) for (const listener of listeners) listener()
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#aborted) return
    this.#listeners ??= []
    this.#listeners.push(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1
    if (at >= 0) this.#listeners!.splice(at, 1)
  }
}

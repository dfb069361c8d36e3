/**
 * Thread: any. The state of one key that an update or a deletion works on, until it is written. It is either current
 * (read in this call, or handed back by a comparison that failed) or suggested by the caller:
 *
 *   suggested ──attempt failed──▶ read; same revision? the failure was right : try again on what was read
 *   any       ──lost the race───▶ try again on what the comparison found
 *   current   ──attempt failed──▶ the failure is final
 */
import type { CancelSignal } from '../../lib/cancellation.js'
import type { CachedText } from '../contract/interface.js'
import type { KeyValue } from '../contract/kv.js'
import { readState, type StateRules, type StoreCore, stateOf, throwIfCancelled } from './store-core.js'
import type { ObjectState } from './stored-object.js'

export interface AttemptedKey<T> {
  readonly core: StoreCore<T>
  readonly key: string
  readonly rules: StateRules
  readonly signal: CancelSignal | undefined
  /** What the suggestion was read from; undefined when its text tells nothing. */
  readonly text?: CachedText<T> | undefined
}

export class AttemptedState<T> {
  readonly #attempted: AttemptedKey<T>
  #state: ObjectState<T>
  #current: boolean

  private constructor(attempted: AttemptedKey<T>, state: ObjectState<T>, current: boolean) {
    this.#attempted = attempted
    this.#state = state
    this.#current = current
  }

  /** Begins with the suggestion, or with what is stored when there is none. */
  static async open<T>(attempted: AttemptedKey<T>, suggestion: T | undefined): Promise<AttemptedState<T>> {
    const { core, key, rules, signal, text } = attempted
    return suggestion === undefined
      ? new AttemptedState(attempted, await readState(core, key, rules, signal), true)
      : new AttemptedState(attempted, core.objects.suggestedState(suggestion, text), false)
  }

  get state(): ObjectState<T> {
    return this.#state
  }

  get isCurrent(): boolean {
    return this.#current
  }

  /** Runs `work` on the state; a failure counts only when the state turns out to be current. */
  async attempt<R>(work: (state: ObjectState<T>) => Promise<R>): Promise<R> {
    for (;;) {
      throwIfCancelled(this.#attempted.key, this.#attempted.signal)
      try {
        return await work(this.#state)
      } catch (error) {
        if (this.#current) throw error
        const seen = this.#state.revision
        await this.read()
        if (this.#state.revision === seen) throw error
      }
    }
  }

  async read(): Promise<void> {
    const { core, key, rules, signal } = this.#attempted
    this.#state = await readState(core, key, rules, signal)
    this.#current = true
  }

  /** Goes on with what a comparison that failed has found under the key. */
  async take(found: KeyValue | undefined): Promise<void> {
    const { core, key, rules } = this.#attempted
    this.#state = await stateOf(core, key, found, rules)
    this.#current = true
  }
}

/**
 * Thread: pool. Which mutating policies run again in the second round of a request: those that want to, when something has changed
 * since they ran. A policy that has changed something itself wants to see what became of it, too.
 */
import type { Json } from '../../api/object.js'
import { deepCopy } from '../../api/object.js'
import type { AdmissionAttributes, Reinvocation } from '../chain.js'
import { equalJson } from '../matching/equal-json.js'

export class PolicyRounds {
  /** Policies, with binding and parameter, that have run and want to run again when something changes. */
  readonly #invoked = new Set<string>()
  readonly #toReinvoke = new Set<string>()
  /** The object as the policies left it. */
  #output: Json | undefined

  /** Begins a round. In the second one, what others changed since the first counts as a change. */
  begin({ reinvocation, object }: AdmissionAttributes): void {
    if (reinvocation.isReinvoke && !equalJson(this.#output, object as unknown as Json)) this.#requireInvoked()
  }

  /** Whether a policy runs in this round. */
  runs(key: string, { isReinvoke }: Reinvocation): boolean {
    return !isReinvoke || this.#toReinvoke.has(key)
  }

  changed(reinvocation: Reinvocation): void {
    this.#requireInvoked()
    reinvocation.requested = true
  }

  ran(key: string): void {
    this.#invoked.add(key)
  }

  end({ object }: AdmissionAttributes): void {
    this.#output = object === undefined ? undefined : deepCopy(object as unknown as Json)
  }

  #requireInvoked(): void {
    for (const key of this.#invoked) this.#toReinvoke.add(key)
    this.#invoked.clear()
  }
}

/** Thread: any. What one evaluation of a program has: values of variables by their slots, and what it has cost so far. */
import { MAX_STEPS, PER_CALL_LIMIT } from '../limits.js'
import { CelError, type CelValue, type Meter } from '../values/value.js'

/** An evaluation has done more work than any may; nothing in the expression can do without it. */
export class WorkExceeded extends Error {
  readonly code = 'WorkExceeded'
}

export class Frame implements Meter {
  cost = 0
  readonly slots: CelValue[]
  #steps = 0

  constructor(slots: CelValue[]) {
    this.slots = slots
  }

  get isExhausted(): boolean {
    return this.cost > PER_CALL_LIMIT
  }

  get steps(): number {
    return this.#steps
  }

  spend(steps: number): void {
    this.#steps += steps
    if (this.#steps > MAX_STEPS) throw new WorkExceeded('too many steps')
  }
}

export type Closure = (frame: Frame) => CelValue

/** The work of an evaluation is given up when it has cost too much. */
export const COST_LIMIT_EXCEEDED = new CelError('operation cancelled: actual cost limit exceeded')
export const NO_OVERLOAD = new CelError('no such overload')

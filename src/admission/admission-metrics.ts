/** Thread: pool. Measures how long plugins take, and counts whom they refuse. */
import type { Clock } from '../lib/clock.js'
import { admissionFamilies } from '../metrics/families.js'
import type { Recorder, Series } from '../metrics/recorder.js'

export type AdmissionStep = 'admit' | 'validate'

/** Times one plugin, or all of them, in one step of one operation. */
export class StepTimer {
  readonly #admitted: Series
  readonly #rejected: Series
  readonly #clock: Clock

  constructor(admitted: Series, rejected: Series, clock: Clock) {
    this.#admitted = admitted
    this.#rejected = rejected
    this.#clock = clock
  }

  now(): number {
    return this.#clock.monotonicMs()
  }

  ended(startedMs: number, rejected: boolean): void {
    ;(rejected ? this.#rejected : this.#admitted).observe((this.#clock.monotonicMs() - startedMs) / 1000)
  }
}

export class AdmissionMetrics {
  readonly #recorder: Recorder
  readonly #clock: Clock

  constructor(recorder: Recorder, clock: Clock) {
    this.#recorder = recorder
    this.#clock = clock
  }

  plugin(name: string, step: AdmissionStep, operation: string): StepTimer {
    const of = (rejected: string): Series =>
      this.#recorder.series(admissionFamilies.controllers, name, step, operation, rejected)
    return new StepTimer(of('false'), of('true'), this.#clock)
  }

  step(step: AdmissionStep, operation: string): StepTimer {
    const of = (rejected: string): Series => this.#recorder.series(admissionFamilies.steps, step, operation, rejected)
    return new StepTimer(of('false'), of('true'), this.#clock)
  }
}

/** Thread: any. Counts requests that this server makes of others: webhooks, kubelets. */
import { processFamilies } from './families.js'
import type { Recorder } from './recorder.js'

/** The code that kube's clients give an answer that did not come. */
const NO_ANSWER = '<error>'

export class ClientMetrics {
  readonly #recorder: Recorder

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  answered(method: string, host: string, status: number | undefined): void {
    this.#recorder.series(processFamilies.clientRequests, String(status ?? NO_ANSWER), method, host).add(1)
  }

  failed(method: string, host: string): void {
    this.#recorder.series(processFamilies.clientRequests, NO_ANSWER, method, host).add(1)
  }
}

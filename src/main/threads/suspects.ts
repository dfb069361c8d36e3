/**
 * Thread: main. Runs again the tasks that were under way in a lost thread. They run one after another: so the task that
 * loses a second thread is known to be the cause, and the others, which were there by chance, get their answers.
 */
import type { HandedTask } from './pool-member.js'
import { TaskCancelled } from './task-cancelled.js'

export class Suspects {
  readonly #place: (task: HandedTask) => void
  readonly #waiting: HandedTask[] = []
  #trying = false

  constructor(place: (task: HandedTask) => void) {
    this.#place = place
  }

  add(task: HandedTask): void {
    this.#waiting.push(task)
    this.#next()
  }

  #next(): void {
    if (this.#trying) return
    const task = this.#waiting.shift()
    if (task === undefined) return
    this.#trying = true
    const done = (): void => {
      this.#trying = false
      this.#next()
    }
    task.result.promise.then(done, done)
    if (task.caller?.gone === true) task.result.reject(new TaskCancelled())
    else this.#place(task)
  }
}

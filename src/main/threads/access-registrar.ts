/**
 * Thread: main. Tells every thread that decides on access of what the files of --authentication-config and
 * --authorization-config say now. Changes are told one after another; a thread that starts later is given the last ones.
 */
import { type AccessChange, UNCHANGED_ACCESS } from '../../protocol/access-change.js'

interface Threads {
  change(change: AccessChange): Promise<void>
}

export class AccessRegistrar {
  readonly #threads: Threads[]
  #current = UNCHANGED_ACCESS
  #last: Promise<void> = Promise.resolve()

  constructor(threads: readonly Threads[]) {
    this.#threads = [...threads]
  }

  /** Adds threads that are told of every change from now on. */
  tell(threads: Threads): void {
    this.#threads.push(threads)
  }

  /** What has changed since the server started. */
  current(): AccessChange {
    return this.#current
  }

  /** Resolves when every thread goes by it. */
  change(changed: Partial<Omit<AccessChange, 'type'>>): Promise<void> {
    // Threads that start from here on are given the change; those that are there are told of it.
    this.#current = { ...this.#current, ...changed }
    const change: AccessChange = { ...UNCHANGED_ACCESS, ...changed }
    const done = this.#last.then(async () => {
      await Promise.all(this.#threads.map((threads) => threads.change(change)))
    })
    // A failure is told to whoever made the change; the changes after it go on.
    this.#last = done.catch(() => undefined)
    return done
  }
}

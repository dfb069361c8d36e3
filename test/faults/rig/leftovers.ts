/**
 * What a run would leave behind if it were interrupted: processes, mounted file systems, folders. Whoever makes one puts it here, and takes
 * it out when it is gone; an interrupt ends them, the last first, and the process with them.
 */
const INTERRUPTED: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 }

class Leftovers {
  readonly #removals = new Set<() => void>()

  /** Gives the way to take it out again. `remove` waits for nothing. */
  add(remove: () => void): () => void {
    this.#removals.add(remove)
    return () => void this.#removals.delete(remove)
  }

  removeAll(): void {
    for (const remove of [...this.#removals].reverse()) {
      this.#removals.delete(remove)
      try {
        remove()
      } catch (error) {
        console.error(`something is left behind: ${(error as Error).message}`)
      }
    }
  }

  /** From now on an interrupt of this process leaves nothing. */
  watchInterrupts(): void {
    // Not once: a second signal would end the process in the middle.
    for (const [signal, code] of Object.entries(INTERRUPTED))
      process.on(signal, () => {
        this.removeAll()
        process.exit(code)
      })
  }
}

export const leftovers = new Leftovers()

/**
 * Thread: any. Something that was opened once and is used by many: connections by resources, a resource's storage by
 * its subresources. It is closed when the last of them lets go, and only then.
 */
import { assert } from '../../lib/assert.js'
import type { Closable } from '../../lib/lifecycle.js'

/** One use of a shared thing. */
export interface SharedHandle<T> {
  readonly value: T
  /** Another use of the same thing, to be released by itself. */
  retain(): SharedHandle<T>
  /** Ends this use; a second call does nothing. Resolves when the thing is closed, if this was its last use. */
  release(): Promise<void>
}

/** Makes the first use of a thing that has just been opened. */
export function openShared<T>(value: T, close: () => Promise<void> | void): SharedHandle<T> {
  return new Opened(value, close).use()
}

class Opened<T> {
  readonly #value: T
  readonly #close: () => Promise<void> | void
  #users = 0

  constructor(value: T, close: () => Promise<void> | void) {
    this.#value = value
    this.#close = close
  }

  use(): SharedHandle<T> {
    this.#users++
    let released: Promise<void> | undefined
    return {
      value: this.#value,
      retain: () => {
        assert(released === undefined, 'a handle that was released cannot be shared any more')
        return this.use()
      },
      release: () => {
        released ??= this.#letGo()
        return released
      },
    }
  }

  async #letGo(): Promise<void> {
    this.#users--
    if (this.#users === 0) await this.#close()
  }
}

/** Shared things by key, each opened when it is first asked for. */
export class SharedHandles<T extends Closable> {
  readonly #open = new Map<string, Opened<T>>()
  readonly #closing = new Set<string>()

  acquire(key: string, open: () => T): SharedHandle<T> {
    let opened = this.#open.get(key)
    if (opened === undefined) {
      assert(!this.#closing.has(key), 'what is being closed cannot be opened again yet')
      const value = open()
      opened = new Opened(value, () => this.#close(key, value))
      this.#open.set(key, opened)
    }
    return opened.use()
  }

  async #close(key: string, value: T): Promise<void> {
    this.#open.delete(key)
    this.#closing.add(key)
    try {
      await value.close()
    } finally {
      this.#closing.delete(key)
    }
  }
}

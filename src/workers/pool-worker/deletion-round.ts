/**
 * Thread: pool. Deletes the objects of a definition. There may be many of them, and a schema may make each of them large: they are
 * read page by page, other tasks of the thread come in between, and a round ends when its time is up. What it has deleted stays
 * deleted, so the next round has less to do.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type KubeObject, metadataOf } from '../../api/object.js'
import { listPage } from '../../registry/generic/list-all.js'
import type { RegistryStore } from '../../registry/generic/registry-store.js'
import { isStorageError } from '../../storage/contract/errors.js'

const FIRST_PAGE = 20
const LARGEST_PAGE = 100
/** A page that took longer is followed by a smaller one. */
const PAGE_MS = 100
const ROUND_MS = 2_000

export interface DeletionRoundOptions {
  readonly store: Pick<RegistryStore, 'storage' | 'keyRoot'>
  now(): number
  remove(object: ObjectName): Promise<void>
  /** So many objects are deleted at the same time. */
  readonly workers: number
}

export interface ObjectName {
  readonly name: string
  readonly namespace: string
}

export class DeletionRound {
  readonly #options: DeletionRoundOptions
  readonly #endMs: number
  #limit = FIRST_PAGE
  #removed = 0

  constructor(options: DeletionRoundOptions) {
    this.#options = options
    this.#endMs = options.now() + ROUND_MS
  }

  /** Gives how many objects are left: those that wait for finalizers of their own, and those of the next round. */
  async run(): Promise<number> {
    const { store } = this.#options
    let continueToken = ''
    do {
      const page: Page = await this.#read(continueToken)
      await this.#remove(page.names)
      await nextTurn()
      continueToken = page.continueToken
    } while (continueToken !== '' && !this.#isOver())
    return store.storage.count(store.keyRoot(''))
  }

  /** Objects that only wait are passed by, however long it takes: else those behind them would never be reached. */
  #isOver(): boolean {
    return this.#removed > 0 && this.#options.now() >= this.#endMs
  }

  /** Of a page only the names are kept. */
  async #read(continueToken: string): Promise<Page> {
    const { store, now } = this.#options
    const startedMs = now()
    try {
      const page = await listPage(store.storage, store.keyRoot(''), { limit: this.#limit, continueToken })
      const isSlow = now() - startedMs > PAGE_MS
      this.#limit = isSlow ? Math.max(1, this.#limit >> 1) : Math.min(LARGEST_PAGE, this.#limit * 2)
      const names = page.items.filter((object) => !waits(object)).map(nameOf)
      return { names, continueToken: page.continueToken }
    } catch (error) {
      // The state that the round began with has been compacted: it goes on with the newest one.
      if (!isStorageError(error, 'too-old') || error.fields.continueToken === undefined) throw error
      return { names: [], continueToken: error.fields.continueToken }
    }
  }

  async #remove(names: readonly ObjectName[]): Promise<void> {
    const { remove, workers } = this.#options
    const queue = names.values()
    const removeSome = async (): Promise<void> => {
      for (const name of queue) {
        await remove(name)
        this.#removed++
        await nextTurn()
        if (this.#isOver()) return
      }
    }
    // Behind the outcome of a round nothing may be under way.
    const loops = await Promise.allSettled(Array.from({ length: Math.max(1, workers) }, removeSome))
    for (const loop of loops) if (loop.status === 'rejected') throw loop.reason
  }
}

interface Page {
  readonly names: readonly ObjectName[]
  readonly continueToken: string
}

function waits(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers } = metadataOf(object)
  return deletionTimestamp !== undefined && deletionTimestamp !== null && (finalizers ?? []).length > 0
}

function nameOf(object: KubeObject): ObjectName {
  const { name = '', namespace = '' } = metadataOf(object)
  return { name, namespace }
}

/** One watch of the fake server: looks at the log from time to time and writes what is new. */
import type { ServerResponse } from 'node:http'
import type { FakeStore, LogEntry } from './fake-store.js'
import type { Planted } from './planted.js'

export interface FakeWatchOptions {
  readonly prefix: string
  /** Undefined or 0: the state first. */
  readonly from: number | undefined
  readonly initial: boolean
}

const LOOK_MS = 5

export class FakeWatch {
  readonly #response: ServerResponse
  readonly #store: FakeStore
  readonly #planted: Planted
  readonly #prefix: string
  #next: number
  #hasTold = false
  /** The first event is left out: the watch was resumed behind where it was asked to. */
  readonly #isLate: boolean = false

  constructor(
    response: ServerResponse,
    store: FakeStore,
    planted: Planted,
    { prefix, from, initial }: FakeWatchOptions,
  ) {
    this.#response = response
    this.#store = store
    this.#planted = planted
    this.#prefix = prefix
    const start = initial || from === undefined || from === 0 ? store.revision : from
    this.#next = store.log.findIndex(({ revision }) => revision > start)
    if (this.#next < 0) this.#next = store.log.length
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    if (start !== from || initial) this.#showState(start, initial)
    else this.#isLate = planted.strikes('resumed too late')
  }

  start(): void {
    const timer = setInterval(() => this.#look(), LOOK_MS)
    this.#response.on('close', () => clearInterval(timer))
  }

  #showState(revision: number, initial: boolean): void {
    const state = this.#store.at(this.#prefix, revision)
    if (state.length > 0 && this.#planted.strikes('initial event missing')) state.shift()
    for (const { object } of state) this.#write('ADDED', object)
    if (initial) this.#bookmark(revision, { 'k8s.io/initial-events-end': 'true' })
  }

  #look(): void {
    const entries: LogEntry[] = []
    for (; this.#next < this.#store.log.length; this.#next++) {
      const entry = this.#store.log[this.#next]!
      if (entry.key.startsWith(this.#prefix)) entries.push(entry)
    }
    const isFirst = !this.#hasTold && entries.length > 0
    this.#hasTold ||= isFirst
    if (this.#isLate && isFirst) entries.shift()
    if (entries.length > 1 && this.#planted.strikes('watch reordered')) entries.reverse()
    for (const { type, object, revision } of entries) {
      if (this.#planted.strikes('watch gap')) continue
      if (this.#planted.strikes('early bookmark')) this.#bookmark(revision)
      this.#write(type === 'MODIFIED' && this.#planted.strikes('watch type') ? 'ADDED' : type, object)
      if (this.#planted.strikes('watch duplicate')) this.#write(type, object)
    }
    const newest = entries.at(-1)?.revision
    if (newest !== undefined && newest % 7 === 0) this.#bookmark(newest)
  }

  #bookmark(revision: number, annotations: Record<string, string> = {}): void {
    this.#write('BOOKMARK', { metadata: { name: '', resourceVersion: String(revision), annotations } })
  }

  #write(type: string, object: object): void {
    this.#response.write(`${JSON.stringify({ type, object })}\n`)
  }
}

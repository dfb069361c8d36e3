import { MapAttributes } from '#keelson/api/selector.js'
import type {
  ArenaEntry,
  ArenaReader,
  ArenaReplacement,
  ArenaWriter,
  CacheEvent,
  ClockView,
  ClockWriter,
  EventCursor,
  RecordView,
  Snapshot,
} from '#keelson/cacher/memory/shared-memory.js'
import type { ArenaCosts, MemoryReport } from '#keelson/protocol/main-owner.js'
import type { RecordDraft } from '#keelson/protocol/record-draft.js'
import { StorageError } from '#keelson/storage/contract/errors.js'

/** Both sides of a revision clock, in one thread. */
export class MemoryClock implements ClockView, ClockWriter {
  #revision = 0
  #listeners = new Set<(revision: number) => void>()

  revision(): number {
    return this.#revision
  }

  advance(revision: number): void {
    if (revision <= this.#revision) return
    this.#revision = revision
    for (const listener of [...this.#listeners]) listener(revision)
  }

  rewind(revision: number): void {
    this.#revision = Math.min(this.#revision, revision)
    for (const listener of [...this.#listeners]) listener(this.#revision)
  }

  reached(revision: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#revision >= revision) return resolve()
      if (signal?.aborted) return reject(signal.reason as Error)
      const stop = this.onAdvance((now) => {
        if (now < revision) return
        stop()
        resolve()
      })
      signal?.addEventListener('abort', () => {
        stop()
        reject(signal.reason as Error)
      })
    })
  }

  onAdvance(listener: (revision: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

interface State {
  readonly revision: number
  readonly records: ReadonlyMap<string, RecordView>
}

/** Both sides of an arena in plain maps: what shared memory promises, without the sharing. */
export class MemoryArena implements ArenaWriter, ArenaReader {
  readonly #clock: ClockView
  readonly #maxObjects: number
  #states: State[] = [{ revision: 0, records: new Map() }]
  #events: CacheEvent[] = []
  #unpublished: { state: State; event: CacheEvent | undefined }[] = []
  #replaced = false
  #ready = false
  closed = false
  partial = false
  /** Every state that was opened and not released. */
  pins = 0

  constructor(clock: ClockView, options: { maxObjects?: number } = {}) {
    this.#clock = clock
    this.#maxObjects = options.maxObjects ?? Number.POSITIVE_INFINITY
  }

  put(key: string, draft: RecordDraft, modRevision: number, createRevision: number): void {
    const newest = this.#newest()
    const previous = newest.records.get(key)
    if (previous === undefined && newest.records.size >= this.#maxObjects) throw new Error('the arena is full')
    const record = recordOf(key, draft, modRevision, createRevision)
    const records = new Map(newest.records).set(key, record)
    const type = previous === undefined ? 'ADDED' : 'MODIFIED'
    this.#unpublished.push({
      state: { revision: modRevision, records },
      event: { type, revision: modRevision, record, previous },
    })
  }

  delete(key: string, revision: number): void {
    const newest = this.#newest()
    const previous = newest.records.get(key)
    if (previous === undefined) return
    const records = new Map(newest.records)
    records.delete(key)
    const record = {
      ...previous,
      modRevision: revision,
      body: () => withRevision(previous.body(), revision),
    }
    this.#unpublished.push({
      state: { revision, records },
      event: { type: 'DELETED', revision, record, previous },
    })
  }

  replace(
    entries: Iterable<{ key: string; draft: RecordDraft; modRevision: number; createRevision: number }>,
    revision: number,
  ): void {
    const records = new Map<string, RecordView>()
    for (const { key, draft, modRevision, createRevision } of entries) {
      if (records.size >= this.#maxObjects) throw new Error('the arena is full')
      records.set(key, recordOf(key, draft, modRevision, createRevision))
    }
    this.#unpublished = [{ state: { revision, records }, event: undefined }]
    this.#replaced = true
  }

  beginReplace(): ArenaReplacement {
    const listed: ArenaEntry[] = []
    return {
      add: (entries) => {
        listed.push(...entries)
        if (listed.length > this.#maxObjects) throw new Error('the arena is full')
      },
      finish: (revision) => this.replace(listed, revision),
      abandon: () => undefined,
    }
  }

  costs(): ArenaCosts {
    return { segments: 0, bodyBytes: 0, headBytes: 0, indexBytes: 0, ringBytes: 0, controlBytes: 0 }
  }

  forget(): void {
    // It keeps everything.
  }

  publish(_revision: number): void {
    if (this.#replaced) {
      this.#states = []
      this.#events = []
      this.#replaced = false
    }
    for (const { state, event } of this.#unpublished) {
      this.#states.push(state)
      if (event !== undefined) this.#events.push(event)
    }
    this.#unpublished = []
  }

  setReady(ready: boolean): void {
    this.#ready = ready
  }

  setPartial(): void {
    this.#ready = false
    this.partial = true
  }

  ready(): boolean {
    return this.#ready && !this.closed
  }

  memory(): MemoryReport {
    const objects = this.#newest().records.size
    return {
      segmentBytes: objects,
      usedBytes: objects,
      freeBytes: 0,
      pinnedBytes: 0,
      windowBytes: 0,
      objects,
      events: this.#events.length,
      capacity: this.#events.length,
    }
  }

  reclaim(): void {
    // Everything is on the heap.
  }

  close(): void {
    this.closed = true
  }

  /** As when the ring has gone round: what happened up to `revision` is no longer told. */
  forgetUpTo(revision: number): void {
    this.#events = this.#events.filter((event) => event.revision > revision)
    const first = this.#states.findLastIndex((state) => state.revision <= revision)
    this.#states = this.#states.slice(Math.max(first, 0))
    if (this.#states[0]!.revision < revision) this.#states[0] = { ...this.#states[0]!, revision }
  }

  snapshot(revision?: number): Snapshot {
    const at = revision ?? this.#clock.revision()
    if (at > this.#clock.revision()) throw new StorageError('too-large', `revision ${at} is not there yet`)
    const state = this.#states.findLast((s) => s.revision <= at)
    if (state === undefined) throw new StorageError('too-old', `revision ${at} has left the window`)
    this.pins++
    const between = (start: string, end: string): RecordView[] =>
      [...state.records.values()].filter((r) => r.key >= start && r.key < end).sort((a, b) => (a.key < b.key ? -1 : 1))
    return {
      revision: at,
      size: state.records.size,
      get: (key) => state.records.get(key),
      scan: (start, end, visit) => {
        for (const record of between(start, end)) if (visit(record) === false) return
      },
      count: (start, end) => between(start, end).length,
      release: () => {
        this.pins--
      },
    }
  }

  oldestRevision(): number {
    return this.#states[0]!.revision
  }

  cursor(revision: number): EventCursor {
    if (revision < this.oldestRevision()) throw new StorageError('too-old', `revision ${revision} has left the window`)
    return this.#cursorAt(Math.min(revision, this.#clock.revision()), revision)
  }

  /** `last`: the event that was visited last, when its revision has more. */
  #cursorAt(revision: number, after: number, last?: CacheEvent): EventCursor {
    let position = revision
    let within = last
    return {
      get revision() {
        return position
      },
      get begun() {
        return within?.revision ?? position
      },
      fork: () => this.#cursorAt(position, after, within),
      advance: (visit) => {
        if (this.closed) return 'expired'
        if (position < this.oldestRevision()) return 'expired'
        const clock = this.#clock.revision()
        const first = within === undefined ? 0 : this.#events.indexOf(within) + 1
        const left = this.#events.slice(first).filter((e) => e.revision > position && e.revision <= clock)
        for (const [i, event] of left.entries()) {
          const next = left[i + 1]?.revision
          within = next === event.revision ? event : undefined
          position = next === event.revision ? event.revision - 1 : event.revision
          if (event.revision > after && visit(event) === false) return next === undefined ? 'current' : 'more'
        }
        within = undefined
        position = Math.max(position, clock)
        return 'current'
      },
    }
  }

  #newest(): State {
    return this.#unpublished.at(-1)?.state ?? this.#states.at(-1)!
  }
}

function recordOf(key: string, draft: RecordDraft, modRevision: number, createRevision: number): RecordView {
  const body = Buffer.concat([
    draft.body.subarray(0, draft.revisionOffset),
    Buffer.from(String(modRevision)),
    draft.body.subarray(draft.revisionOffset),
  ])
  return {
    key,
    uid: draft.uid,
    modRevision,
    createRevision,
    labels: attributes(draft.labels),
    fields: attributes(draft.fields),
    revisionOffset: draft.revisionOffset,
    body: () => body,
  }
}

function attributes(pairs: readonly string[]): MapAttributes {
  const values: Record<string, string> = {}
  for (let i = 0; i < pairs.length; i += 2) values[pairs[i]!] = pairs[i + 1]!
  return new MapAttributes(values)
}

function withRevision(body: Uint8Array, revision: number): Uint8Array {
  const text = Buffer.from(body).toString('utf8')
  return Buffer.from(text.replace(/"resourceVersion":"\d*"/, `"resourceVersion":"${revision}"`))
}

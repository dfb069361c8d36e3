/** A thread that lists, gets and follows events as a front end does, and compares everything with what the writer says. */
import { parentPort, workerData } from 'node:worker_threads'
import { MemoryReader } from '#keelson/cacher/memory/memory-reader.js'
import type { EventCursor, Snapshot } from '#keelson/cacher/memory/shared-memory.js'
import { isTooOld } from '#keelson/storage/contract/errors.js'
import { ARENAS, checkBody, type Handoff, keyOf, type LoadShare, NAMES, type ReaderReport, stateHash } from './load.js'

const { handoff, share } = workerData as { handoff: Handoff; share: LoadShare }
const memory = MemoryReader.open(handoff)
const hashes = new Int32Array(share.hashes)
const progress = new Int32Array(share.progress)
const problems: string[] = []
const counts = { lists: 0, exactLists: 0, tooOld: 0, gets: 0 }
const events = ARENAS.map(() => 0)

const expected = (arena: number, revision: number): number => hashes[arena * (share.revisions + 1) + revision]!
function problem(text: string): void {
  if (text !== '' && problems.length < 10) problems.push(text)
}

function list(arena: number, snapshot: Snapshot, bodies: boolean): void {
  let hash = 0
  let seen = 0
  let last = ''
  snapshot.scan('', '', (record) => {
    const { key, modRevision } = record
    hash ^= stateHash(key, modRevision)
    seen++
    if (key <= last) problem(`${key} after ${last}`)
    last = key
    if (bodies) problem(checkBody(record.body(), key, modRevision))
    return true
  })
  if (seen !== snapshot.size) problem(`${seen} listed of ${snapshot.size}`)
  if (hash !== expected(arena, snapshot.revision))
    problem(`the list of ${ARENAS[arena]} at ${snapshot.revision} differs`)
}

function listExact(arena: number, revision: number): void {
  try {
    const snapshot = memory.arena(ARENAS[arena]!)!.snapshot(revision)
    if (snapshot.revision !== revision) problem(`asked for ${revision}, got ${snapshot.revision}`)
    list(arena, snapshot, false)
    snapshot.release()
    counts.exactLists++
  } catch (error) {
    if (!isTooOld(error)) throw error
    counts.tooOld++
  }
}

function getSome(arena: number, snapshot: Snapshot): void {
  for (let i = 0; i < 50; i++) {
    const key = keyOf(ARENAS[arena]!, Math.floor(Math.random() * NAMES))
    const record = snapshot.get(key)
    counts.gets++
    if (record === undefined) continue
    if (record.key !== key) problem(`asked for ${key}, got ${record.key}`)
    if (record.labels.get('letter') === undefined || record.fields.get('key') !== key) problem(`attributes of ${key}`)
    problem(checkBody(record.body(), key, record.modRevision))
  }
}

/** A state built from events alone. */
class Follower {
  readonly #arena: number
  readonly #cursor: EventCursor
  readonly #state = new Map<string, number>()
  #hash = 0
  #last = 0

  constructor(arena: number) {
    this.#arena = arena
    this.#cursor = memory.arena(ARENAS[arena]!)!.cursor(0)
  }

  get revision(): number {
    return this.#cursor.revision
  }

  follow(): void {
    const outcome = this.#cursor.advance(({ type, revision, record, previous }) => {
      const key = record.key
      events[this.#arena]!++
      if (revision < this.#last) problem(`event ${revision} after ${this.#last}`)
      this.#last = revision
      if (previous?.modRevision !== this.#state.get(key)) problem(`${type} ${key}: another state came before`)
      if ((type === 'ADDED') !== (previous === undefined)) problem(`${type} ${key} has the wrong previous state`)
      if (record.modRevision !== revision) problem(`event ${revision} carries ${record.modRevision}`)
      problem(checkBody(record.body(), key, revision))
      if (previous) {
        problem(checkBody(previous.body(), key, previous.modRevision))
        this.#hash ^= stateHash(key, previous.modRevision)
      }
      if (type === 'DELETED') this.#state.delete(key)
      else {
        this.#state.set(key, revision)
        this.#hash ^= stateHash(key, revision)
      }
      return true
    })
    if (outcome !== 'current') problem(`cursor ${outcome}`)
    if (this.#hash !== expected(this.#arena, this.#cursor.revision))
      problem(`events up to ${this.revision} do not give its state`)
  }
}

// Waiting for the clock keeps no thread alive; a front end has its sockets, this thread has its port.
parentPort!.ref()
parentPort!.on('message', () => undefined)

const followers = ARENAS.map((_, arena) => new Follower(arena))
let held: { arena: number; snapshot: Snapshot } | undefined

for (let round = 0; ; round++) {
  for (const follower of followers) follower.follow()
  const revision = Math.min(...followers.map((follower) => follower.revision))
  Atomics.store(progress, handoff.reader, revision)
  Atomics.notify(progress, handoff.reader)
  const arena = round % ARENAS.length
  const snapshot = memory.arena(ARENAS[arena]!)!.snapshot()
  list(arena, snapshot, true)
  getSome(arena, snapshot)
  counts.lists++
  // One snapshot in twenty is kept while the next ones are read, and must be what it was.
  if (round % 20 === 0) {
    if (held) {
      list(held.arena, held.snapshot, true)
      held.snapshot.release()
    }
    held = { arena, snapshot }
  } else snapshot.release()
  listExact(arena, Math.max(1, revision - Math.floor(Math.random() * 12_000)))
  if (revision === share.revisions || problems.length > 0) break
  if (memory.clock.revision() === revision) await memory.clock.reached(revision + 1)
  else await new Promise((resolve) => setImmediate(resolve))
}
held?.snapshot.release()
const pins = ARENAS.reduce((sum, name) => sum + memory.arena(name)!.pins(), 0)
const report: ReaderReport = { ...counts, events, pins, problems }
// Whatever went wrong: the writer must not wait for this thread.
Atomics.store(progress, handoff.reader, share.revisions)
Atomics.notify(progress, handoff.reader)
parentPort!.postMessage(report)
parentPort!.unref()

/**
 * Thread: owner. Holds everything in the store's file against everything else, without LMDB: the structure of its pages,
 * the checksums, and that the tables tell one story. A page that an older version of itself has taken the place of is
 * sound by itself; it is noticed because index and log disagree, or because revisions are missing from the log.
 *
 * Not to be noticed is a file that is an older state as a whole, such as a copy put back by hand.
 */
import type { KeyValue, LeaseId } from '../../contract/kv.js'
import {
  DamagedRecord,
  decodeIndexEntry,
  decodeLease,
  decodeLogEntry,
  decodeRevision,
  decodeState,
  EMPTY_REVISION,
  type EngineState,
  hasChecksum,
  keyOfLeasedKey,
  type LeaseRecord,
  type LogEntry,
  leaseOfLeasedKey,
} from '../records.js'
import { STATE, type Tables } from '../tables.js'
import { LmdbDamage, type LmdbFile, type LmdbTable, tableOf } from './lmdb-file.js'
import { type LmdbEntry, LmdbTrees } from './lmdb-tree.js'
import { StoreIndex } from './store-index.js'

/** So many problems are told one by one; the others are counted. */
export const MAX_TOLD_PROBLEMS = 100
/** Progress is told after so many entries of the log. */
const PROGRESS_ENTRIES = 5_000
/** lmdb-js puts the version of an entry before its value, in the one table that has versions. */
const META_VERSION_BYTES = 8
const TABLE_NAMES: readonly (keyof Tables)[] = ['keys', 'graves', 'log', 'leases', 'leased', 'meta']

export interface StoreReport {
  /** Undefined when not even the state could be read. */
  readonly state: EngineState | undefined
  readonly keys: number
  readonly logEntries: number
  /** Entries of the log from before there were checksums. */
  readonly unchecked: number
  readonly fileBytes: number
  /** The first of them; each names key or revision or page where that is known. */
  readonly problems: readonly string[]
  readonly problemCount: number
}

/** Is shown what is sound, in this order: the state, leases, the newest version of each live key in order of revision. */
export interface StoreVisitor {
  onState?(state: EngineState, keys: number): void
  onLease?(lease: LeaseId, record: LeaseRecord): void
  onLive?(kv: KeyValue): void
  onProgress?(done: number, total: number): void
}

export function checkStore(file: LmdbFile, visitor: StoreVisitor = {}): StoreReport {
  return new StoreCheck(file, visitor).run()
}

class StoreCheck {
  readonly #file: LmdbFile
  readonly #visitor: StoreVisitor
  readonly #trees: LmdbTrees
  readonly #problems: string[] = []
  readonly #leases = new Set<LeaseId>()
  #index = new StoreIndex(0)
  #problemCount = 0
  #logEntries = 0
  #unchecked = 0

  constructor(file: LmdbFile, visitor: StoreVisitor) {
    this.#file = file
    this.#visitor = visitor
    this.#trees = new LmdbTrees({ file, onDamage: (problem) => this.#problem(`data.mdb ${problem}`) })
  }

  run(): StoreReport {
    // Walked for its pages: one that is free and in use would be written over.
    for (const _ of this.#trees.entries(this.#file.meta.free, false));
    const tables = this.#tables()
    const state = this.#state(tables.get('meta'))
    this.#readIndex(tables)
    if (state !== undefined) this.#visitor.onState?.(state, this.#index.size)
    this.#readLeases(tables.get('leases'))
    if (state !== undefined) this.#readLog(tables.get('log'), state)
    this.#readLeased(tables.get('leased'))
    this.#index.unseen((what) => this.#problem(what))
    return {
      state,
      keys: this.#index.size,
      logEntries: this.#logEntries,
      unchecked: this.#unchecked,
      fileBytes: this.#file.pages * this.#file.meta.pageBytes,
      problems: this.#problems,
      problemCount: this.#problemCount,
    }
  }

  #tables(): Map<string, LmdbTable> {
    const found = new Map<string, LmdbTable>()
    for (const { key, value } of this.#trees.entries(this.#file.meta.main))
      this.#sound(`the record of table ${name(key)}`, () => found.set(name(key), tableOf(value)))
    for (const table of TABLE_NAMES) if (!found.has(table)) this.#problem(`data.mdb has no table ${table}`)
    return found
  }

  *#entries(table: LmdbTable | undefined): Generator<LmdbEntry> {
    if (table !== undefined) yield* this.#trees.entries(table)
  }

  #state(table: LmdbTable | undefined): EngineState | undefined {
    let state: EngineState | undefined
    for (const { key, value } of this.#entries(table))
      if (key.toString() === STATE)
        this.#sound('the record of the state', () => {
          const found = decodeState(value.subarray(META_VERSION_BYTES))
          if (!Number.isSafeInteger(found.revision) || found.revision < 0)
            throw new DamagedRecord(`has ${found.revision} for a revision`)
          state = found
        })
    if (state === undefined) this.#problem('data.mdb has no readable state')
    return state
  }

  #readIndex(tables: ReadonlyMap<string, LmdbTable>): void {
    const keys = tables.get('keys')
    // The number of entries may be what is damaged: the file has no room for more than this.
    const most = this.#file.pages * this.#file.meta.pageBytes
    this.#index = new StoreIndex(Math.min(keys?.entries ?? 0, most))
    for (const { key, value } of this.#entries(keys)) {
      const text = key.toString()
      this.#sound(`the entry of ${text} in the index`, () => this.#index.add(text, decodeIndexEntry(value)))
    }
    for (const { key, value } of this.#entries(tables.get('graves'))) {
      const text = key.toString()
      this.#sound(`the grave of ${text}`, () => this.#index.addGrave(text, decodeRevision(value)))
    }
  }

  #readLeases(table: LmdbTable | undefined): void {
    for (const { key, value } of this.#entries(table)) {
      const lease = leaseOfLeasedKey(key)
      this.#leases.add(lease)
      this.#sound(`lease ${lease}`, () => this.#visitor.onLease?.(lease, decodeLease(lease, value)))
    }
  }

  #readLeased(table: LmdbTable | undefined): void {
    for (const { key } of this.#entries(table)) {
      const [lease, text] = [leaseOfLeasedKey(key), keyOfLeasedKey(key)]
      if (!this.#leases.has(lease)) this.#problem(`${text} is to end with lease ${lease}, which there is not`)
      if (!this.#index.sawLeased(text, lease)) this.#problem(`${text} is noted with lease ${lease} and has another one`)
    }
    const left = this.#index.leasesToSee
    if (left > 0) this.#problem(`${left} keys with a lease would not end with it`)
  }

  #readLog(table: LmdbTable | undefined, state: EngineState): void {
    const { uncheckedUntil, compacted } = state
    const withValue = this.#visitor.onLive !== undefined
    let last = Math.max(compacted, EMPTY_REVISION)
    for (const { key, value } of this.#entries(table)) {
      const revision = key.length === 8 ? Number(key.readBigUInt64BE(0)) : Number.NaN
      if (this.#logEntries++ % PROGRESS_ENTRIES === 0)
        this.#visitor.onProgress?.(this.#logEntries - 1, table?.entries ?? 0)
      if (revision > compacted) {
        this.#gap(last, revision)
        last = revision
      }
      if (!hasChecksum(value)) this.#unchecked++
      this.#sound(`the entry of revision ${revision}${keyHint(value)}`, () => {
        if (!(revision <= state.revision)) throw new DamagedRecord(`is after the last one, ${state.revision}`)
        this.#logEntry(decodeLogEntry(revision, value, { uncheckedUntil, withValue }))
      })
    }
    this.#gap(last, state.revision + 1)
    this.#visitor.onProgress?.(this.#logEntries, table?.entries ?? 0)
  }

  #gap(last: number, next: number): void {
    if (next <= last + 1) return
    const which = next === last + 2 ? `revision ${last + 1}` : `revisions ${last + 1} to ${next - 1}`
    this.#problem(`the log has lost ${which}`)
  }

  #logEntry(entry: LogEntry): void {
    const standing = this.#index.standingOf(entry)
    if (standing === 'contradicts') {
      const { key, modRevision } = entry.kv
      throw new DamagedRecord(`wrote ${key}, and the index does not know it: ${this.#index.describe(key, modRevision)}`)
    }
    if (standing === 'live') this.#visitor.onLive?.(entry.kv)
  }

  /** Runs `read`; what it finds damaged is a problem of `what`. */
  #sound(what: string, read: () => void): void {
    try {
      read()
    } catch (error) {
      if (!(error instanceof DamagedRecord || error instanceof LmdbDamage)) throw error
      this.#problem(`${what} ${error.message}`)
    }
  }

  #problem(problem: string): void {
    this.#problemCount++
    if (this.#problems.length < MAX_TOLD_PROBLEMS) this.#problems.push(problem)
  }
}

/** Names of tables end with a zero byte. */
const name = (key: Buffer): string => key.toString().replace(/\0$/, '')

/** The key that an entry seems to hold, for a message about one that may be damaged. */
function keyHint(logEntry: Buffer): string {
  if (logEntry.length < 32) return ''
  const key = logEntry.toString('utf8', 32, Math.min(logEntry.length, 32 + logEntry.readUInt16LE(2)))
  return key.startsWith('/') && key.length < 300 ? ` (${key})` : ''
}

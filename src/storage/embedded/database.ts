/**
 * Thread: owner. LMDB itself: the tables, the durable commit, the snapshots, and the claim on the folder.
 *
 * Durability. The environment is opened with `overlappingSync: false` and without noSync, noMetaSync, mapAsync or
 * write map. Then a commit in lmdb-js's writer thread is mdb_txn_commit of classic LMDB: write the new pages, fdatasync
 * (F_FULLFSYNC on macOS), write the other meta page through an O_DSYNC descriptor, return. Only after that return does
 * lmdb-js set TXN_COMMITTED, and only that settles the promise that commit() awaits. With lmdb-js's default
 * (overlapping sync) the meta page becomes visible first and is synced later. docs/adr/0004-embedded-engine.md has the
 * system calls as recorded, and the cost.
 *
 * One owner. Every commit is one conditional block on the fencing token: when another process has taken the folder
 * over, nothing of it is written and the engine fails, whatever made both believe they were alone.
 */
import { statfsSync } from 'node:fs'
import { constants } from 'node:os'
import path from 'node:path'
import { open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'
import { assert } from '../../lib/assert.js'
import { StorageError } from '../contract/errors.js'
import { claimOwnership } from './ownership.js'
import { decodeState, EMPTY_REVISION, type EngineState, encodeState, Slab } from './records.js'
import { type DamageListener, Snapshot } from './snapshot.js'
import {
  DATA_FILE,
  FENCE,
  MAP_BYTES,
  MAX_TABLES,
  openTables,
  reportedByTheBlock,
  STATE,
  type StagedWrite,
  stage,
  type Tables,
} from './tables.js'

const MDB_MAP_FULL = -30792
const FULL_CODES = [constants.errno.ENOSPC, constants.errno.EDQUOT, MDB_MAP_FULL]
/** LMDB's two records of what is committed. */
const META_PAGES = 2
/** The bytes that a commit writes beyond its values: tree pages and the list of free pages. */
const ROOM_BYTES = 2 * 1024 * 1024
const FIRST_STATE: EngineState = { revision: EMPTY_REVISION, compacted: 0, pruned: 0, lastLease: 0, uncheckedUntil: 0 }

export interface DatabaseOptions {
  readonly dataDir: string
  /** The store need not outlive the process, so nothing is synced. */
  readonly ephemeral?: boolean
  readonly onDamage?: DamageListener
  /** False for a store in format version 1, which has none. */
  readonly checksums?: boolean
}

/** lmdb-js reads these, and its types leave them out. */
interface StartThresholds {
  readonly txnStartThreshold: number
  readonly batchStartThreshold: number
}

export class Database {
  readonly tables: Tables
  readonly #root: RootDatabase<Buffer, string>
  /** The folder whose volume is asked how much room is left. */
  readonly #volume: string
  readonly #fence: number
  readonly #onDamage: DamageListener
  readonly #checksums: boolean

  private constructor(options: DatabaseOptions, root: RootDatabase<Buffer, string>, tables: Tables, fence: number) {
    this.#volume = options.ephemeral ? path.dirname(options.dataDir) : options.dataDir
    this.#root = root
    this.tables = tables
    this.#fence = fence
    this.#onDamage = options.onDamage ?? (() => undefined)
    this.#checksums = options.checksums ?? true
  }

  /** Opens or creates the tables of a folder that has been inspected, and claims it; throws when it is in use. */
  static async open(options: DatabaseOptions): Promise<{ database: Database; snapshot: Snapshot }> {
    const { dataDir } = options
    const settings: RootDatabaseOptionsWithPath & StartThresholds = {
      path: `${dataDir}/${DATA_FILE}`,
      noSubdir: true,
      encoding: 'binary',
      overlappingSync: false,
      noSync: options.ephemeral ?? false,
      // Every commit is an explicit block; a timer of lmdb-js would only delay it.
      eventTurnBatching: false,
      // The second instruction of a turn begins the transaction: see commit().
      txnStartThreshold: 1,
      // Not within a large block: the one that follows it could miss the transaction and get one of its own. After a meta page that could not be
      // written, lmdb-js never ends that one, and close() waits for it.
      batchStartThreshold: Number.POSITIVE_INFINITY,
      mapSize: MAP_BYTES,
      maxDbs: MAX_TABLES,
    }
    const root: RootDatabase<Buffer, string> = open(settings)
    try {
      const tables = openTables(root)
      // The read transaction is held from before the claim: by it another process sees that this one lives.
      const presence = root.useReadTransaction()
      const fence = claimOwnership(dataDir, root, tables.meta, () => {
        if (tables.meta.getBinary(STATE) === undefined)
          void tables.meta.put(STATE, encodeState(FIRST_STATE, new Slab()), 0)
      })
      const database = new Database(options, root, tables, fence)
      const snapshot = database.pin()
      presence.done()
      return { database, snapshot }
    } catch (error) {
      await root.close()
      throw error
    }
  }

  /** A snapshot of the newest committed state. */
  pin(expected?: EngineState): Snapshot {
    this.#root.resetReadTxn()
    const transaction = this.#root.useReadTransaction()
    const bytes = this.tables.meta.getBinaryFast(STATE, { transaction })
    assert(bytes !== undefined, 'the store has no state record')
    const state = decodeState(bytes)
    assert(expected === undefined || expected.revision === state.revision, 'a snapshot is not that of the last commit')
    return new Snapshot({ tables: this.tables, transaction, state, onDamage: this.#onDamage })
  }

  /**
   * Resolves once all writes are on the disk; when it rejects, none is. LMDB is not asked when the disk has no room: lmdb-js 3.5 puts its account of
   * a page that could not be written into 100 bytes of heap, which it outgrows from some 100 MB of file on, or by what lay on the stack; the
   * process then ends in malloc (fault run 72). What is left is a disk that fills up between question and write, or a quota.
   */
  async commit(writes: readonly StagedWrite[], state: EngineState, slab: Slab): Promise<void> {
    if (!this.hasRoom(slab.bytes)) throw this.#noSpace('too little room is left for a commit')
    const { meta } = this.tables
    const committed = meta.ifVersion(FENCE, this.#fence, () => {
      // The promises of single writes are not awaited: lmdb-js settles them together with the block's.
      for (const write of writes) stage(this.tables, write)
      void meta.put(STATE, encodeState(state, slab, this.#checksums), 0)
    })
    // lmdb-js begins a block's transaction in the next turn of the loop, unless something follows it: this block changes nothing.
    meta.ifVersion(FENCE, this.#fence, () => undefined).catch(reportedByTheBlock)
    let written: boolean
    try {
      written = await committed
    } catch (error) {
      throw this.#asStorageError(await causeOf(error), slab.bytes)
    }
    if (!written)
      throw new StorageError('unreachable', 'another process has taken over the data directory; nothing was written')
  }

  /**
   * Called after a failed commit: throws when LMDB takes no more transactions, else gives the state that is on the
   * disk.
   */
  probe(): EngineState {
    return this.#root.transactionSync(() => {
      const bytes = this.tables.meta.getBinary(STATE)
      assert(bytes !== undefined, 'the store has no state record')
      return decodeState(bytes)
    })
  }

  /**
   * A write that the disk took only in part is an I/O error to LMDB, so the room that is left decides between a
   * full disk and a broken one.
   */
  #asStorageError(cause: unknown, bytes: number): StorageError {
    const { code, message } = cause as { code?: number; message: string }
    const full = FULL_CODES.includes(code ?? 0) || (code === constants.errno.EIO && !this.hasRoom(bytes))
    return full
      ? this.#noSpace(message, cause)
      : new StorageError('unreachable', `a commit in ${this.#volume} failed: ${message}`, { cause })
  }

  #noSpace(why: string, cause?: unknown): StorageError {
    const message = `the disk of ${this.#volume} is full (${why}): nothing was written; reads go on, and so do writes once there is room`
    return new StorageError('no-space', message, { cause })
  }

  /** Whether the disk has room for a commit of so many bytes. */
  hasRoom(bytes = 0): boolean {
    const { bavail, bsize, blocks } = statfsSync(this.#volume)
    // A file system that counts no blocks at all does not tell what is left.
    return blocks === 0 || bavail * bsize >= bytes + ROOM_BYTES
  }

  get fileBytes(): number {
    const stats = this.#root.getStats() as { pageSize: number; lastPageNumber: number }
    return stats.pageSize * (stats.lastPageNumber + 1)
  }

  /** What the file's pages are used for. */
  usage(): { fileBytes: number; freeBytes: number; tables: Record<string, { entries: number; bytes: number }> } {
    const { fileBytes } = this
    const root = this.#root.getStats() as TreeStats & { readonly free: TreeStats }
    const tables: Record<string, { entries: number; bytes: number }> = {}
    let usedBytes = META_PAGES * root.pageSize + treeBytes(root, root.pageSize) + treeBytes(root.free, root.pageSize)
    for (const [name, table] of Object.entries(this.tables)) {
      const stats = (table as Tables['keys']).getStats() as TreeStats
      const bytes = treeBytes(stats, root.pageSize)
      usedBytes += bytes
      tables[name] = { entries: stats.entryCount, bytes }
    }
    return { fileBytes, freeBytes: fileBytes - usedBytes, tables }
  }

  close(): Promise<void> {
    return this.#root.close()
  }
}

/** The pages of a tree, as LMDB counts them; lmdb-js has no type for it. */
interface TreeStats {
  readonly pageSize: number
  readonly entryCount: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

const treeBytes = (tree: TreeStats, pageBytes: number): number =>
  (tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages) * pageBytes

/** lmdb-js rejects with a general error first and gives LMDB's own code a moment later. */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> }
  const reason: unknown = await Promise.resolve(commitError).catch((cause: unknown) => cause)
  return reason ?? error
}

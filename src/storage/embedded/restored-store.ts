/**
 * Thread: data. A store that is made of a backup: every key as it was, at the revision at which it was written. It is built
 * beside its place and put there once it is whole and on the disk; a restore that is cut short leaves a folder that the
 * server refuses, and that the next restore removes.
 */
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { syncFolder } from '../../lib/sync-folder.js'
import { type KeyValue, type LeaseId, NO_LEASE } from '../contract/kv.js'
import {
  clearUnfinished,
  markInitialised,
  markUninitialised,
  prepareDataDirectory,
  RESTORE_FOLDER,
} from './data-directory.js'
import { Database } from './database.js'
import { writeOwner } from './ownership.js'
import {
  EMPTY_REVISION,
  encodeIndexEntry,
  encodeLease,
  encodeLogEntry,
  type LeaseRecord,
  leasedKey,
  Slab,
} from './records.js'
import { DATA_FILE, type StagedWrite } from './tables.js'

/** So much is written in one commit. */
const BATCH_BYTES = 4 * 1024 * 1024
const BATCH_WRITES = 4_000
const FIRST_FORMAT_WITH_CHECKSUMS = 2

export interface RestoredStoreOptions {
  readonly dataDir: string
  /** The format version of the folder that is made. */
  readonly format: number
}

export class RestoredStore {
  readonly #dataDir: string
  readonly #format: number
  readonly #checked: boolean
  readonly #database: Database
  /** Which file is being built: another restore may have put its own in that place. */
  readonly #identity: string
  readonly #revisions = new Set<number>()
  /** Keys whose revision another one has already: etcd may write several at one, a log has one entry for each. */
  readonly #renumbered: KeyValue[] = []
  readonly #leases = new Map<LeaseId, LeaseId>()
  #writes: StagedWrite[] = []
  #slab = new Slab()
  #last = EMPTY_REVISION

  private constructor(options: RestoredStoreOptions, database: Database) {
    this.#dataDir = options.dataDir
    this.#format = options.format
    this.#checked = options.format >= FIRST_FORMAT_WITH_CHECKSUMS
    this.#database = database
    this.#identity = identityOf(this.#built)
  }

  get #built(): string {
    return path.join(this.#dataDir, RESTORE_FOLDER, DATA_FILE)
  }

  /** Throws DataDirectoryError unless the folder is empty, or holds what a restore left that was cut short. */
  static async create(options: RestoredStoreOptions): Promise<RestoredStore> {
    const { dataDir } = options
    clearUnfinished(dataDir)
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const building = path.join(dataDir, RESTORE_FOLDER)
    prepareDataDirectory(building)
    // From here on another restore into this folder is refused for as long as this process lives.
    writeOwner(building)
    const checked = options.format >= FIRST_FORMAT_WITH_CHECKSUMS
    const { database, snapshot } = await Database.open({ dataDir: building, checksums: checked })
    snapshot.release()
    return new RestoredStore(options, database)
  }

  /** Leases get numbers of their own: those of etcd are no numbers of this engine. */
  addLease(lease: LeaseId, record: LeaseRecord): void {
    const id = BigInt(this.#leases.size + 1)
    this.#leases.set(lease, id)
    this.#writes.push({
      table: 'leases',
      key: leasedKey(id, ''),
      value: encodeLease(id, record, this.#slab, this.#checked),
    })
  }

  async addKey(kv: KeyValue): Promise<void> {
    if (this.#revisions.has(kv.modRevision) || kv.modRevision <= EMPTY_REVISION) {
      this.#renumbered.push(kv)
      return
    }
    this.#revisions.add(kv.modRevision)
    this.#stage(kv)
    if (this.#writes.length >= BATCH_WRITES || this.#slab.bytes >= BATCH_BYTES) await this.#commit(this.#last)
  }

  /**
   * Puts the store in its place, at `bump` revisions after that of the backup, all history compacted: clients that have
   * seen revisions which are no more start over. Gives the revision, and how many keys got a new one.
   */
  async finish(backupRevision: number, bump: number): Promise<{ revision: number; renumbered: number }> {
    this.#last = Math.max(this.#last, backupRevision)
    for (const kv of this.#renumbered) {
      const modRevision = ++this.#last
      this.#stage({ ...kv, modRevision, createRevision: Math.min(kv.createRevision, modRevision) })
    }
    const revision = this.#last + bump
    if (!Number.isSafeInteger(revision)) throw new Error(`revision ${revision} is too large; choose a smaller bump`)
    await this.#commit(revision)
    await this.#database.close()
    const building = path.join(this.#dataDir, RESTORE_FOLDER)
    markUninitialised(this.#dataDir, this.#format)
    this.#putInPlace()
    rmSync(building, { recursive: true })
    syncFolder(this.#dataDir)
    markInitialised(this.#dataDir, this.#format)
    return { revision, renumbered: this.#renumbered.length }
  }

  /** Removes all that was made. */
  async abandon(): Promise<void> {
    await this.#database.close()
    if (identityOf(this.#built) !== this.#identity) return
    rmSync(path.join(this.#dataDir, RESTORE_FOLDER), { recursive: true, force: true })
    if (existsSync(this.#dataDir) && readdirSync(this.#dataDir).length === 0) rmSync(this.#dataDir, { recursive: true })
  }

  /** Linked and looked at afterwards: between a look and a rename another file could come in its place. */
  #putInPlace(): void {
    const target = path.join(this.#dataDir, DATA_FILE)
    linkSync(this.#built, target)
    if (identityOf(target) === this.#identity) return
    rmSync(target)
    throw new Error(`${this.#dataDir} was taken by another restore meanwhile; nothing was put there`)
  }

  #stage(kv: KeyValue): void {
    // A key whose lease is not in the backup had one that ended while the backup was made: it has ended here too.
    const lease = kv.lease === NO_LEASE ? NO_LEASE : this.#leases.get(kv.lease)
    if (lease === undefined) return
    const restored = { ...kv, lease }
    const { key, modRevision } = restored
    this.#last = Math.max(this.#last, modRevision)
    const entry = encodeLogEntry({ type: 'put', kv: restored, previous: 0 }, this.#slab, this.#checked)
    this.#writes.push({ table: 'log', key: modRevision, value: entry, isUnordered: true })
    this.#writes.push({ table: 'keys', key, value: encodeIndexEntry(restored, this.#slab) })
    if (lease !== NO_LEASE) this.#writes.push({ table: 'leased', key: leasedKey(lease, key), value: Buffer.alloc(1) })
  }

  async #commit(revision: number): Promise<void> {
    const state = {
      revision,
      compacted: revision,
      pruned: revision,
      lastLease: this.#leases.size,
      uncheckedUntil: 0,
    }
    await this.#database.commit(this.#writes, state, this.#slab)
    this.#writes = []
    this.#slab = new Slab()
  }
}

/** Device and inode; of no file it is empty. */
function identityOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.dev}:${found.ino}`
}

/**
 * Thread: data. Holds the items of a backup against one another. Checksums tell damage; this tells a file that was made
 * wrongly, or made to do harm, before a store is made of it.
 */
import { type KeyValue, type LeaseId, NO_LEASE } from '../contract/kv.js'
import { BackupError, type BackupHead, type BackupItem, type BackupLease } from './backup-format.js'

/** Leaves room for the bump of a restore, and for more revisions than a store will ever have. */
const MAX_REVISION = 2 ** 52

export class BackupChecker {
  #head: BackupHead | undefined
  /** Keys come in the order of revisions from the embedded engine, in that of names from etcd: only a set serves both. */
  readonly #keys = new Set<string>()
  readonly #leases = new Set<LeaseId>()

  /** Throws BackupError where the item cannot follow those before it. */
  check(item: BackupItem): void {
    if (item.type === 'head') {
      this.#checkHead(item.head)
      return
    }
    if (this.#head === undefined) throw new BackupError('does not begin with its head')
    if (item.type === 'lease') this.#checkLease(item.lease)
    else if (item.type === 'key') this.#checkKey(item.kv, this.#head.revision)
    else if (item.end?.keys !== this.#keys.size || item.end.leases !== this.#leases.size)
      throw new BackupError(
        `has ${this.#keys.size} keys and ${this.#leases.size} leases, and should have ${item.end?.keys} and ${item.end?.leases}`,
      )
  }

  #checkHead(head: BackupHead): void {
    if (this.#head !== undefined) throw new BackupError('has two heads')
    // It was parsed from JSON, and may be anything.
    const { source, revision, keys, createdAt } = (head ?? {}) as Partial<BackupHead>
    if (!isWithin(revision, 1, MAX_REVISION)) throw new BackupError(`has ${revision} for its revision`)
    if (!isWithin(keys, 0, MAX_REVISION)) throw new BackupError(`has ${keys} for its number of keys`)
    if ((source !== 'embedded' && source !== 'etcd') || typeof createdAt !== 'string')
      throw new BackupError('does not say what it is a backup of')
    this.#head = head
  }

  #checkLease({ lease, ttlSeconds, expiresAtMs }: BackupLease): void {
    if (lease === NO_LEASE || !Number.isFinite(ttlSeconds) || !Number.isFinite(expiresAtMs))
      throw new BackupError(`has lease ${lease} of ${ttlSeconds} seconds until ${expiresAtMs}`)
    if (this.#leases.has(lease)) throw new BackupError(`has lease ${lease} twice`)
    this.#leases.add(lease)
  }

  #checkKey({ key, createRevision, modRevision }: KeyValue, last: number): void {
    if (!isWithin(modRevision, 1, last) || !isWithin(createRevision, 1, modRevision))
      throw new BackupError(
        `has ${key} created at revision ${createRevision} and changed at ${modRevision}, and is of revision ${last}`,
      )
    if (this.#keys.has(key)) throw new BackupError(`has ${key} twice`)
    this.#keys.add(key)
  }
}

function isWithin(value: unknown, least: number, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
}

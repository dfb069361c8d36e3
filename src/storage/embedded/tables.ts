/** Thread: owner. The tables of the store and how their keys are written; records.ts has their values. */
import type { Database as LmdbDatabase, RootDatabase, Transaction } from 'lmdb'

/** The longest key that lmdb-js takes with the system's page size. */
export const MAX_KEY_BYTES = 1978
export const DATA_FILE = 'data.mdb'
/** Room for the store in the address space; nothing is allocated for it. A store that fills it answers `no-space`. */
export const MAP_BYTES = 256 * 2 ** 30
export const MAX_TABLES = 8
export const FENCE = 'fence'
export const STATE = 'state'

/** A table of LMDB, with the options that lmdb-js takes and its types leave out. */
export interface Table<K extends string | number | Buffer>
  extends Omit<LmdbDatabase<Buffer, K>, 'getBinaryFast' | 'put'> {
  /** Reads a value into a buffer that the next read reuses. */
  getBinaryFast(key: K, options?: { readonly transaction?: Transaction }): Buffer | undefined
  put(key: K, value: Buffer, versionOrOptions?: number | { readonly append: boolean }): Promise<boolean>
}

export interface Tables {
  readonly keys: Table<string>
  readonly graves: Table<string>
  readonly log: Table<number>
  readonly leases: Table<Buffer>
  readonly leased: Table<Buffer>
  readonly meta: Table<string>
}

/** A change of one table; without a value the key is removed. */
export type StagedWrite =
  | { readonly table: 'keys' | 'graves'; readonly key: string; readonly value: Buffer | undefined }
  | {
      readonly table: 'log'
      readonly key: number
      readonly value: Buffer | undefined
      /** The entry may come before others that are there, as when a store is restored. */
      readonly isUnordered?: true
    }
  | { readonly table: 'leases' | 'leased'; readonly key: Buffer; readonly value: Buffer | undefined }

/** Keys are raw UTF-8: LMDB compares bytes, which is the order that the contract asks for. */
const textKeys = {
  writeKey: (key: string, target: Buffer, start: number): number => start + target.write(key, start),
  readKey: (source: Buffer, start: number, end: number): string => source.toString('utf8', start, end),
}

const revisionKeys = {
  writeKey(revision: number, target: Buffer, start: number): number {
    target.writeUInt32BE(Math.floor(revision / 2 ** 32), start)
    return target.writeUInt32BE(revision % 2 ** 32, start + 4)
  },
  readKey: (source: Buffer, start: number): number =>
    source.readUInt32BE(start) * 2 ** 32 + source.readUInt32BE(start + 4),
}

export function openTables(root: RootDatabase<Buffer, string>): Tables {
  return {
    keys: openTable<string>(root, 'keys', { keyEncoder: textKeys }),
    graves: openTable<string>(root, 'graves', { keyEncoder: textKeys }),
    log: openTable<number>(root, 'log', { keyEncoder: revisionKeys }),
    leases: openTable<Buffer>(root, 'leases', { keyEncoding: 'binary' }),
    leased: openTable<Buffer>(root, 'leased', { keyEncoding: 'binary' }),
    meta: openTable<string>(root, 'meta', { useVersions: true }),
  }
}

function openTable<K extends string | number | Buffer>(
  root: RootDatabase<Buffer, string>,
  name: string,
  options: { keyEncoding?: 'binary'; useVersions?: boolean; keyEncoder?: unknown },
): Table<K> {
  return root.openDB<Buffer, K>(name, { encoding: 'binary', ...options }) as Table<K>
}

export function stage(tables: Tables, write: StagedWrite): void {
  if (write.table === 'log' && write.value !== undefined && write.isUnordered !== true) {
    // Revisions only grow, so every entry goes to the end: full pages, no search. (Not after anything else: LMDB would
    // refuse the entry and lmdb-js would not call that an error.)
    tables.log.put(write.key, write.value, { append: true }).catch(reportedByTheBlock)
    return
  }
  // A table's key type follows from its name; the union hides that from the compiler.
  const table = tables[write.table] as Table<string | number | Buffer>
  if (write.value === undefined) void table.remove(write.key)
  else void table.put(write.key, write.value)
}

/** An entry that is appended has a promise of its own; when the commit fails, the promise of its block says so. */
export const reportedByTheBlock = (): void => undefined

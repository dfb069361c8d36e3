/**
 * Thread: data. The file of a store that another process may be writing to. A read transaction of LMDB keeps every page
 * that its state, and every later one, is made of from being used again; so the pages of the newest state can be read in
 * peace, without LMDB, for as long as it is held. The writer is not kept waiting; its file grows meanwhile.
 */
import { open } from 'lmdb'
import { MAP_BYTES, MAX_TABLES } from '../tables.js'
import { LmdbFile } from './lmdb-file.js'

export interface PinnedFile {
  readonly file: LmdbFile
  release(): Promise<void>
}

/** Throws LmdbDamage when the file is no store. Must not be called by the process that has the store open. */
export function openPinned(path: string): PinnedFile {
  // LMDB opens nothing whose meta pages are not right.
  LmdbFile.open(path).close()
  const root = open({
    path,
    noSubdir: true,
    readOnly: true,
    mapSize: MAP_BYTES,
    maxDbs: MAX_TABLES,
    encoding: 'binary',
  })
  const transaction = root.useReadTransaction()
  const file = LmdbFile.open(path)
  return {
    file,
    async release() {
      file.close()
      transaction.done()
      await root.close()
    },
  }
}

/** Thread: owner. Opens the folder of an engine in the one right order, and closes it in reverse. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import path from 'node:path'
import { FORMAT_VERSION, markInitialised, prepareDataDirectory } from './data-directory.js'
import { DataDirectoryError } from './data-directory-error.js'
import { Database } from './database.js'
import { refuseSecondOpen, removeOwner, writeOwner } from './ownership.js'
import type { DamageListener, Snapshot } from './snapshot.js'

/** As writes of files (names) and lmdb-js (numbers) say that a disk is full. */
const FULL_CODES: readonly (string | number | undefined)[] = [
  'ENOSPC',
  'EDQUOT',
  constants.errno.ENOSPC,
  constants.errno.EDQUOT,
]

export interface EngineFolder {
  readonly dataDir: string
  /** The older format version that the folder was in until now. */
  readonly upgradedFrom: number | undefined
  readonly database: Database
  readonly snapshot: Snapshot
  close(): Promise<void>
}

/** Opens the folder, or a store in memory when there is none. */
export function openEngineFolder(dataDir: string | undefined, onDamage: DamageListener): Promise<EngineFolder> {
  return dataDir === undefined ? openInMemory(onDamage) : openOnDisk(path.resolve(dataDir), onDamage)
}

async function openOnDisk(dataDir: string, onDamage: DamageListener): Promise<EngineFolder> {
  try {
    return await claimed(dataDir, onDamage)
  } catch (error) {
    if (!FULL_CODES.includes((error as { code?: string | number }).code)) throw error
    throw new DataDirectoryError(
      'data-dir-full',
      dataDir,
      'its disk is full: nothing is lost; make room and start again',
    )
  }
}

async function claimed(dataDir: string, onDamage: DamageListener): Promise<EngineFolder> {
  refuseSecondOpen(dataDir)
  const { initialised, version } = prepareDataDirectory(dataDir)
  const { database, snapshot } = await Database.open({ dataDir, onDamage })
  try {
    // Before the first write of this version, so that an older one never meets what it does not know.
    if (!initialised || version < FORMAT_VERSION) markInitialised(dataDir)
    writeOwner(dataDir)
  } catch (error) {
    snapshot.release()
    await database.close()
    throw error
  }
  return {
    dataDir,
    upgradedFrom: version < FORMAT_VERSION ? version : undefined,
    database,
    snapshot,
    async close() {
      await database.close()
      removeOwner(dataDir)
    },
  }
}

async function openInMemory(onDamage: DamageListener): Promise<EngineFolder> {
  const dataDir = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'keelson-'))
  const { database, snapshot } = await Database.open({ dataDir, ephemeral: true, onDamage })
  // LMDB keeps its files open: without a name they go with the process, however it ends.
  rmSync(dataDir, { recursive: true })
  return { dataDir: 'memory', upgradedFrom: undefined, database, snapshot, close: () => database.close() }
}

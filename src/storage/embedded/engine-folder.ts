/** Thread: owner. Opens the folder of an engine in the one right order, and closes it in reverse. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { markInitialised, prepareDataDirectory } from './data-directory.js'
import { Database } from './database.js'
import { refuseSecondOpen, removeOwner, writeOwner } from './ownership.js'
import type { Snapshot } from './snapshot.js'

export interface EngineFolder {
  readonly dataDir: string
  readonly database: Database
  readonly snapshot: Snapshot
  close(): Promise<void>
}

/** Opens the folder, or a store in memory when there is none. */
export function openEngineFolder(dataDir: string | undefined): Promise<EngineFolder> {
  return dataDir === undefined ? openInMemory() : openOnDisk(path.resolve(dataDir))
}

async function openOnDisk(dataDir: string): Promise<EngineFolder> {
  refuseSecondOpen(dataDir)
  const { initialised } = prepareDataDirectory(dataDir)
  const { database, snapshot } = await Database.open({ dataDir })
  if (!initialised) markInitialised(dataDir)
  writeOwner(dataDir)
  return {
    dataDir,
    database,
    snapshot,
    async close() {
      await database.close()
      removeOwner(dataDir)
    },
  }
}

async function openInMemory(): Promise<EngineFolder> {
  const dataDir = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'keelson-'))
  const { database, snapshot } = await Database.open({ dataDir, ephemeral: true })
  // LMDB keeps its files open: without a name they go with the process, however it ends.
  rmSync(dataDir, { recursive: true })
  return { dataDir: 'memory', database, snapshot, close: () => database.close() }
}

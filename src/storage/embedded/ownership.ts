/**
 * Thread: owner. One process at a time on a data directory.
 *
 * The claim is a record in the store, changed inside LMDB's write lock (which the system gives up when its holder
 * dies). Whether its author still lives is asked of LMDB's table of readers: an engine always holds a read transaction,
 * and LMDB marks each process there with a record lock that ends with the process. So a claim left by kill -9 never
 * blocks, and process ids that were reused do not confuse it. Works wherever LMDB does.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { RootDatabase } from 'lmdb'
import { DataDirectoryError } from './data-directory-error.js'
import { FENCE, type Table } from './tables.js'

/** The file that says who has the folder open, for messages and for a second open in the same process. */
export const OWNER_FILE = 'owner.json'

interface Owner {
  readonly pid: number
  /** When the process started, which tells it from others that had the same id. */
  readonly started: string
}

/** Gives the fencing token of the new owner; `initialise` runs in the same transaction. */
export function claimOwnership(
  dataDir: string,
  root: RootDatabase<Buffer, string>,
  meta: Table<string>,
  initialise: () => void,
): number {
  return root.transactionSync(() => {
    const entry = meta.getEntry(FENCE)
    const previous = entry === undefined ? undefined : parseOwner(entry.value.toString())
    root.readerCheck()
    const readers = livePids(root.readerList())
    // This process has one reader by now; a second one with its id is a process in another pid namespace.
    const mine = readers.filter((pid) => pid === process.pid).length
    const holder = previous !== undefined && readers.includes(previous.pid) ? previous.pid : undefined
    if (holder !== undefined && (holder !== process.pid || mine > 1)) throw locked(dataDir, holder)
    const fence = (entry?.version ?? 0) + 1
    void meta.put(FENCE, Buffer.from(JSON.stringify(thisProcess())), fence)
    initialise()
    return fence
  })
}

/** Must be called before LMDB opens the files: a second open and close in one process would drop the record locks. */
export function refuseSecondOpen(dataDir: string): void {
  const owner = readOwner(dataDir)
  const self = thisProcess()
  if (owner?.pid === self.pid && owner.started === self.started) throw locked(dataDir, self.pid)
}

/** Throws when the process that wrote the owner's file still runs: for folders whose store may not be opened to ask LMDB. */
export function refuseLiveOwner(dataDir: string): void {
  const owner = readOwner(dataDir)
  if (owner !== undefined && isLive(owner)) throw locked(dataDir, owner.pid)
}

function isLive({ pid, started }: Owner): boolean {
  if (pid === process.pid) return started === startOfThisProcess()
  // Where the system tells when a process started, another one that got its id is not taken for it.
  if (started.startsWith('ticks-')) return started === startTicks(pid)
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export function writeOwner(dataDir: string): void {
  writeFileSync(path.join(dataDir, OWNER_FILE), `${JSON.stringify(thisProcess())}\n`)
}

export function removeOwner(dataDir: string): void {
  rmSync(path.join(dataDir, OWNER_FILE), { force: true })
}

function readOwner(dataDir: string): Owner | undefined {
  try {
    return parseOwner(readFileSync(path.join(dataDir, OWNER_FILE), 'utf8'))
  } catch (error) {
    // Without the file, or the folder, nobody has it open.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

function parseOwner(text: string): Owner | undefined {
  try {
    const owner = JSON.parse(text) as Partial<Owner>
    return typeof owner.pid === 'number' && typeof owner.started === 'string' ? (owner as Owner) : undefined
  } catch {
    // A file cut short by a crash names nobody.
    return undefined
  }
}

function locked(dataDir: string, pid: number): DataDirectoryError {
  const who = pid === process.pid ? `this process (pid ${pid})` : `the process with pid ${pid}`
  return new DataDirectoryError(
    'data-dir-locked',
    dataDir,
    `is already open in ${who}; one process at a time may use it`,
    {
      pid,
    },
  )
}

function thisProcess(): Owner {
  return { pid: process.pid, started: startOfThisProcess() }
}

/** Linux tells the tick at which a process started; elsewhere it is computed from the wall time. */
function startOfThisProcess(): string {
  return startTicks('self') ?? `time-${Math.round((Date.now() / 1000 - process.uptime()) / 2)}`
}

/** Undefined where there is no such process, or the system does not tell. */
function startTicks(pid: number | 'self'): string | undefined {
  try {
    // The command in parentheses may hold any character; the start time is the 20th field after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').trim().split(' ')
    return `ticks-${fields[19]}`
  } catch {
    return undefined
  }
}

/** LMDB's list of readers is a table: a heading, then a line a reader that starts with its pid. */
function livePids(readerList: string): number[] {
  return [...readerList.matchAll(/^[ \t]*(\d+)[ \t]+[0-9a-f]+\s/gm)].map((line) => Number(line[1]))
}

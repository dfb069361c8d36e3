/**
 * Thread: owner. The folder of the engine, looked at before anything is written into it.
 *
 *   keelson.json   {"format":"keelson-embedded","version":2,"initialised":true}
 *   data.mdb       the store, and data.mdb-lock beside it, LMDB's table of readers
 *   owner.json     who has it open
 *
 * `initialised` turns true after the first durable commit: until then nothing was ever acknowledged, so a creation that
 * was cut short is simply begun again. Afterwards a store that is missing or damaged is an error and is left as it is.
 *
 * Format version 2 has checksums (records.ts). A folder of version 1 is opened, becomes one of version 2 before the first
 * write, and keeps its old entries as they are. Versions of Keelson that know only version 1 refuse it from then on:
 * `keelson data backup` and `restore --format 1` lead back.
 */
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { threadId } from 'node:worker_threads'
import { syncFolder } from '../../lib/sync-folder.js'
import { DataDirectoryError } from './data-directory-error.js'
import { LmdbDamage, LmdbFile } from './file/lmdb-file.js'
import { checkStore } from './file/store-check.js'
import { OWNER_FILE, refuseLiveOwner } from './ownership.js'
import { DATA_FILE } from './tables.js'

const FORMAT = 'keelson-embedded'
/** The format that this version writes, and the oldest that it reads. */
export const FORMAT_VERSION = 2
export const OLDEST_FORMAT_VERSION = 1
const FORMAT_FILE = 'keelson.json'
/** The beginning of the name under which keelson.json is written; a creation that was cut short may leave such a file. */
const FORMAT_TEMPORARY = 'keelson.json.tmp'
/** Where a restore builds the store before it is put in its place; its presence means that one was cut short. */
export const RESTORE_FOLDER = 'restoring'
/** A store that another process writes to is looked at so often before it counts as that process's. */
const CHECK_ATTEMPTS = 3
const OURS = new Set([FORMAT_FILE, DATA_FILE, `${DATA_FILE}-lock`, OWNER_FILE])
const isTemporary = (name: string): boolean => name.startsWith(FORMAT_TEMPORARY)
const isOurs = (name: string): boolean => OURS.has(name) || isTemporary(name)
/**
 * What file systems put at the root of a fresh volume, and the folder of the server's certificates, which may be there
 * before the store.
 */
const IGNORED = new Set(['lost+found', '.DS_Store', 'certs'])

export interface PreparedDirectory {
  readonly initialised: boolean
  /** The format that the folder is in. */
  readonly version: number
}

/** Throws unless the folder can be opened as it is, or is empty; an empty one is created and marked as ours. */
export function prepareDataDirectory(dataDir: string): PreparedDirectory {
  const names = namesIn(dataDir)
  keepOthersOut(dataDir, names)
  if (names.includes(RESTORE_FOLDER))
    throw new DataDirectoryError(
      'data-dir-foreign',
      dataDir,
      `a restore into it was cut short; run "keelson data restore" again, or remove ${RESTORE_FOLDER} in it`,
    )
  const format = names.includes(FORMAT_FILE) ? readFormat(dataDir) : undefined
  if (format?.initialised) {
    if (!names.includes(DATA_FILE)) throw damaged(dataDir, `${DATA_FILE} is missing`)
    checkFile(dataDir)
    ownFile(path.join(dataDir, DATA_FILE))
    return format
  }
  const foreign = names.filter((name) => !isOurs(name) || (format === undefined && !isTemporary(name)))
  if (foreign.length > 0)
    throw new DataDirectoryError(
      'data-dir-foreign',
      dataDir,
      `holds files that are not Keelson's (${foreign.slice(0, 3).join(', ')}); choose an empty folder`,
    )
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  discardHalfMade(path.join(dataDir, DATA_FILE), names)
  if (format === undefined) writeFormat(dataDir, false)
  ownFile(path.join(dataDir, DATA_FILE))
  return { initialised: false, version: FORMAT_VERSION }
}

/**
 * Holds the store against itself before LMDB, which trusts it, opens it. The file is only read. Another process may own
 * the folder and write meanwhile, which looks like damage: then the last transaction is another one afterwards.
 */
function checkFile(dataDir: string): void {
  const file = path.join(dataDir, DATA_FILE)
  for (let attempt = 0; attempt < CHECK_ATTEMPTS; attempt++) {
    const before = transactionOf(file)
    const fault = faultOf(file)
    if (fault === undefined) return
    if (transactionOf(file) === before) throw damaged(dataDir, fault)
  }
  throw new DataDirectoryError('data-dir-locked', dataDir, 'another process is writing to it')
}

/** The last transaction of the store; undefined where that cannot be told. */
function transactionOf(file: string): bigint | undefined {
  try {
    const opened = LmdbFile.open(file)
    opened.close()
    return opened.meta.transaction
  } catch (error) {
    if (error instanceof LmdbDamage) return undefined
    throw error
  }
}

/** What is wrong with the store, in words; undefined when it is sound. */
function faultOf(file: string): string | undefined {
  let opened: LmdbFile | undefined
  try {
    opened = LmdbFile.open(file)
    const { problems, problemCount } = checkStore(opened)
    return problemCount === 0 ? undefined : `${problemCount} problems, the first: ${problems[0]}`
  } catch (error) {
    if (error instanceof LmdbDamage) return `${DATA_FILE} ${error.message}`
    throw error
  } finally {
    opened?.close()
  }
}

function damaged(dataDir: string, fault: string): DataDirectoryError {
  return new DataDirectoryError(
    'data-dir-corrupt',
    dataDir,
    `is damaged (${fault}). Nothing was changed. "keelson data check" tells all that is wrong; restore the last backup ` +
      'into another folder ("keelson data restore"), or save what is sound ("keelson data backup --skip-damaged") and restore that',
  )
}

/**
 * Secrets lie in the store in plain text unless they are encrypted: nobody else may read its file. LMDB creates files
 * with whatever the umask leaves, so the file is there before LMDB opens it; an empty one is a new store to it.
 */
function ownFile(file: string): void {
  for (const name of [file, `${file}-lock`]) {
    closeSync(openSync(name, 'a', 0o600))
    if ((statSync(name).mode & 0o077) !== 0) chmodSync(name, 0o600)
  }
}

/**
 * Closes our own folder to others, because whoever may write to it could put another store in its place. Windows has no such modes (Node
 * makes up one in which everybody may everything): there a folder has the access list of the one it lies in.
 */
function keepOthersOut(dataDir: string, names: readonly string[]): void {
  if (process.platform === 'win32') return
  const found = statSync(dataDir, { throwIfNoEntry: false })
  if (found === undefined || (found.mode & 0o007) === 0) return
  // Only a folder that holds nothing but our files is closed; another one is refused later, and left as it is.
  if (found.uid === process.getuid?.() && names.every((name) => isOurs(name))) {
    chmodSync(dataDir, found.mode & 0o770)
    return
  }
  const isSticky = (found.mode & 0o1000) !== 0
  if ((found.mode & 0o002) !== 0 && !isSticky)
    throw new DataDirectoryError('data-dir-open', dataDir, 'may be written to by everybody; take that away (chmod o-w)')
}

/** Marks the folder as one that holds data, in the format of this version or in an older one. */
export function markInitialised(dataDir: string, version = FORMAT_VERSION): void {
  writeFormat(dataDir, true, version)
}

/** Marks the folder as one whose store is about to be put in its place. */
export function markUninitialised(dataDir: string, version: number): void {
  writeFormat(dataDir, false, version)
}

/** Removes what a restore left that was cut short; throws when it still runs, or the folder holds anything else. */
export function clearUnfinished(dataDir: string): void {
  const names = namesIn(dataDir)
  if (names.length === 0) return
  const isUnfinished =
    names.includes(RESTORE_FOLDER) && !(names.includes(FORMAT_FILE) && readFormat(dataDir).initialised)
  if (!isUnfinished || !names.every((name) => name === RESTORE_FOLDER || isOurs(name)))
    throw new DataDirectoryError(
      'data-dir-foreign',
      dataDir,
      `is not empty (${names.slice(0, 3).join(', ')}); nothing was changed`,
    )
  refuseLiveOwner(path.join(dataDir, RESTORE_FOLDER))
  for (const name of names) rmSync(path.join(dataDir, name), { recursive: true })
}

/**
 * Removes only a file that LMDB cannot have finished creating: another process may be creating the store at this
 * moment.
 */
function discardHalfMade(file: string, names: readonly string[]): void {
  if (!names.includes(DATA_FILE) || statSync(file).size === 0) return
  try {
    LmdbFile.open(file).close()
  } catch (error) {
    if (!(error instanceof LmdbDamage)) throw error
    rmSync(file)
  }
}

function namesIn(dataDir: string): string[] {
  try {
    return readdirSync(dataDir).filter((name) => !IGNORED.has(name))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') throw new DataDirectoryError('data-dir-foreign', dataDir, 'is a file, not a folder')
    throw error
  }
}

/** What the folder says of itself. Throws when it is not ours, or in a format that this version does not read. */
export function readFormat(dataDir: string): PreparedDirectory {
  const text = formatText(dataDir)
  let found: { format?: unknown; version?: unknown; initialised?: unknown }
  try {
    found = JSON.parse(text) as typeof found
  } catch {
    throw new DataDirectoryError('data-dir-corrupt', dataDir, `${FORMAT_FILE} is not JSON`)
  }
  if (found?.format !== FORMAT)
    throw new DataDirectoryError('data-dir-foreign', dataDir, `${FORMAT_FILE} does not say "${FORMAT}"`)
  const { version } = found
  if (
    typeof version !== 'number' ||
    !Number.isInteger(version) ||
    !(version >= OLDEST_FORMAT_VERSION && version <= FORMAT_VERSION)
  )
    throw new DataDirectoryError(
      'data-dir-version',
      dataDir,
      `is in format version ${String(version)}; this version of Keelson reads ${OLDEST_FORMAT_VERSION} to ${FORMAT_VERSION}: start the version that wrote it (there, "keelson data backup" and "keelson data restore --format ${FORMAT_VERSION}" make a folder that this one opens), or choose another --data-dir`,
    )
  return { initialised: found.initialised === true, version }
}

/** Writes the file whole or not at all; it is on the disk when this returns. */
function formatText(dataDir: string): string {
  try {
    return readFileSync(path.join(dataDir, FORMAT_FILE), 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw new DataDirectoryError(
        'data-dir-foreign',
        dataDir,
        `has no ${FORMAT_FILE}: it is no folder of the embedded engine`,
      )
    throw error
  }
}

function writeFormat(dataDir: string, initialised: boolean, version = FORMAT_VERSION): void {
  // Two processes that create one store at once must not write one file, and a link to it must not be written to.
  const temporary = path.join(dataDir, `${FORMAT_TEMPORARY}-${process.pid}-${threadId}`)
  const target = path.join(dataDir, FORMAT_FILE)
  const record = { format: FORMAT, version, initialised }
  rmSync(temporary, { force: true })
  writeFileSync(temporary, `${JSON.stringify(record)}\n`, { flush: true })
  if (initialised) renameSync(temporary, target)
  else {
    linkIfAbsent(temporary, target)
    rmSync(temporary)
  }
  syncFolder(dataDir)
}

/**
 * Links the file unless it is there: another process that creates the same store at this moment may have linked its
 * own.
 */
function linkIfAbsent(temporary: string, target: string): void {
  try {
    linkSync(temporary, target)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

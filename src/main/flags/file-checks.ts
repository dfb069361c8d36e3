/** Thread: main. Files and folders that flags name, looked at before anything starts: so that a message can name the flag. */
import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import path from 'node:path'
import { lookupTable } from '../../lib/lookup-table.js'

/**
 * The room that a disk must have: a first start writes some 2 MB, and with less than this it would come to a stop half-
 * way or soon after.
 */
const ROOM_FOR_A_START = 8 * 2 ** 20
const NOT_ALLOWED = 'permission denied; name another, or start as a user who may'
const ABSENT = 'it is not there'
/** Linux takes no longer ones. */
const MAX_PATH = 4095
const SHOWN_LENGTH = 200
const WORDS: Readonly<Record<string, string>> = lookupTable({
  ENOENT: ABSENT,
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'its name is too long',
  ENOTDIR: 'a part of its path is a file',
  ELOOP: 'its links lead in a circle',
})

/** What is wrong with a file that is to be read. */
export function fileProblem(file: string): string | undefined {
  const why = refusal(file, constants.R_OK)
  if (why !== undefined)
    return why === ABSENT ? `there is no file ${shown(file)}` : `${shown(file)} cannot be read: ${why}`
  return statSync(file).isDirectory() ? `${shown(file)} is a folder, not a file` : undefined
}

/** What is wrong with a folder that is to be written to, or made when it is not there. */
export function folderProblem(folder: string): string | undefined {
  if (path.resolve(folder).length > MAX_PATH) return `${shown(folder)} cannot be made: its name is too long`
  const there = nearest(folder)
  const name = JSON.stringify(folder)
  if (!statSync(there).isDirectory())
    return there === folder ? `${name} is a file, not a folder` : `${name} cannot be made: ${there} is a file`
  const why = refusal(there, constants.W_OK)
  return why === undefined ? undefined : `${name} cannot be ${there === folder ? 'written to' : 'made'}: ${why}`
}

/**
 * What is wrong with the disk of a folder that the store is to be kept in. A folder that is not empty passes: room can be
 * made in the store that is there.
 */
export function roomProblem(folder: string): string | undefined {
  if (existsSync(folder) && readdirSync(folder).length > 0) return undefined
  const { bavail, bsize } = statfsSync(nearest(folder))
  const free = bavail * bsize
  if (free >= ROOM_FOR_A_START) return undefined
  return `${JSON.stringify(folder)}: its disk has ${Math.floor(free / 1024)} KiB left; a first start needs ${ROOM_FOR_A_START / 2 ** 20} MiB`
}

const shown = (file: string): string =>
  JSON.stringify(file.length > SHOWN_LENGTH ? `${file.slice(0, SHOWN_LENGTH)}…` : file)

/** The folder itself, or the innermost of those around it that exists. */
function nearest(folder: string): string {
  let at = path.resolve(folder)
  while (!existsSync(at) && path.dirname(at) !== at) at = path.dirname(at)
  return at === path.resolve(folder) ? folder : at
}

function refusal(at: string, mode: number): string | undefined {
  try {
    accessSync(at, mode)
    return undefined
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    return WORDS[code] ?? message
  }
}

/**
 * Thread: any. The files of /proc, in which Linux tells of this process. They are read while the server runs, so a file that
 * cannot be read now is no error: elsewhere there is no /proc, and a process that has no file descriptor left opens nothing.
 */
import { readFileSync, readlinkSync } from 'node:fs'

/** ESRCH: the thread ended between opening and reading. */
const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ESRCH'])
/** No descriptor is left, or no memory for one: soon there may be. */
const NOT_NOW: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM'])

/** The text of a file; `absent` when there is none, undefined when it cannot be read at this moment. */
export function readProc(file: string): string | 'absent' | undefined {
  return attempt(() => readFileSync(`/proc/${file}`, 'latin1'))
}

/** What a link points to, as readProc() gives a text. */
export function readProcLink(file: string): string | 'absent' | undefined {
  return attempt(() => readlinkSync(`/proc/${file}`))
}

function attempt(read: () => string): string | undefined {
  try {
    return read()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (ABSENT.has(code)) return 'absent'
    if (NOT_NOW.has(code)) return undefined
    throw error
  }
}

/** Thread: data. Reads a backup from its beginning to its end, and says when it is not the one that was written. */
import { closeSync, openSync, readSync } from 'node:fs'
import { BackupChecker } from './backup-checker.js'
import {
  BACKUP_MAGIC,
  BACKUP_VERSION,
  type BackupEnd,
  BackupError,
  type BackupHead,
  type BackupItem,
  decodePayload,
  FRAME_HEADER_BYTES,
  MAX_FRAME_BYTES,
} from './backup-format.js'

const BUFFER_BYTES = 1024 * 1024

/** The items of a backup, head first and end last. Throws BackupError where it is damaged or cut. */
export function* readBackup(file: string): Generator<BackupItem> {
  const source = new FileBytes(file)
  try {
    checkMagic(source.line())
    const checker = new BackupChecker()
    for (let number = 0; ; number++) {
      const head = source.take(FRAME_HEADER_BYTES)
      const bytes = head?.readUInt32LE(0) ?? 0
      if (head === undefined || bytes > MAX_FRAME_BYTES)
        throw head === undefined ? cut() : new BackupError(`is damaged: record ${number} has ${bytes} bytes`)
      const payload = source.take(bytes)
      if (payload === undefined) throw cut()
      const item = decodePayload(payload, head.readUInt32LE(4), number)
      checker.check(item)
      yield item
      if (item.type === 'end') return
    }
  } finally {
    source.close()
  }
}

/** Reads all of a backup, so that what is begun with it can be finished. */
export function verifyBackup(file: string, onKeys: (done: number, total: number) => void): BackupHead & BackupEnd {
  let head: BackupHead | undefined
  const seen = { keys: 0, leases: 0 }
  for (const item of readBackup(file)) {
    if (item.type === 'head') head = item.head
    else if (item.type === 'lease') seen.leases++
    else if (item.type === 'key' && seen.keys++ % 5_000 === 0) onKeys(seen.keys - 1, head?.keys ?? 0)
  }
  if (head === undefined) throw cut()
  return { ...head, ...seen }
}

const cut = (): BackupError =>
  new BackupError('is cut short; a backup that was finished ends with a record that this lacks')

function checkMagic(line: string): void {
  if (!line.startsWith(BACKUP_MAGIC)) throw new BackupError('is not a backup of "keelson data backup"')
  const version = line.slice(BACKUP_MAGIC.length)
  if (version !== String(BACKUP_VERSION))
    throw new BackupError(
      `is in backup format ${version}; this version of Keelson reads ${BACKUP_VERSION}: restore it with the version that wrote it`,
    )
}

class FileBytes {
  readonly #descriptor: number
  #buffer = Buffer.alloc(0)
  #at = 0

  constructor(file: string) {
    this.#descriptor = openSync(file, 'r')
  }

  /** The first line, without its end. */
  line(): string {
    this.#fill(64)
    const end = this.#buffer.indexOf(10)
    const text = this.#buffer.toString('latin1', 0, end < 0 ? Math.min(this.#buffer.length, 64) : end)
    this.#at = end + 1
    return text
  }

  /** The next bytes; undefined when the file has fewer. */
  take(bytes: number): Buffer | undefined {
    this.#fill(bytes)
    if (this.#buffer.length - this.#at < bytes) return undefined
    const taken = this.#buffer.subarray(this.#at, this.#at + bytes)
    this.#at += bytes
    return taken
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  /** Reads until there are so many bytes or the file ends. Buffers are never reused: values point into them. */
  #fill(bytes: number): void {
    const left = this.#buffer.subarray(this.#at)
    if (left.length >= bytes) return
    const next = Buffer.allocUnsafe(Math.max(bytes, BUFFER_BYTES))
    left.copy(next)
    let end = left.length
    for (let read = -1; read !== 0 && end < bytes; end += read)
      read = readSync(this.#descriptor, next, end, next.length - end, null)
    this.#buffer = next.subarray(0, end)
    this.#at = 0
  }
}

/**
 * Thread: data. Writes a backup under a temporary name, and gives it its own once it is whole and on the disk: whatever
 * happens on the way, a file with that name is a whole backup.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { syncFolder } from '../../lib/sync-folder.js'
import {
  BACKUP_MAGIC,
  BACKUP_VERSION,
  BackupError,
  type BackupHead,
  type BackupItem,
  encodeFrame,
} from './backup-format.js'

const BUFFER_BYTES = 1024 * 1024

export class BackupWriter {
  readonly #file: string
  readonly #partial: string
  readonly #descriptor: number
  #pending: Buffer[] = []
  #pendingBytes = 0
  #frames = 0
  #keys = 0
  #leases = 0
  #isOpen = true

  /** Throws when there is a file of that name. */
  constructor(file: string) {
    this.#file = file
    // Two backups to one name must not write one file, and nobody can plant a link under a name that he cannot guess.
    this.#partial = `${file}.part-${process.pid}-${randomBytes(6).toString('hex')}`
    if (existsSync(file)) throw new BackupError('is there already; choose another name')
    // It holds Secrets as they are stored: nobody else may read it.
    this.#descriptor = openSync(this.#partial, 'wx', 0o600)
    this.#push(Buffer.from(`${BACKUP_MAGIC}${BACKUP_VERSION}\n`))
  }

  get keys(): number {
    return this.#keys
  }

  begin(head: BackupHead): void {
    this.add({ type: 'head', head })
  }

  add(item: BackupItem): void {
    if (item.type === 'key') this.#keys++
    if (item.type === 'lease') this.#leases++
    this.#push(encodeFrame(item, this.#frames++))
  }

  /** Gives the file its name; it is safe when this returns. */
  finish(): void {
    this.add({ type: 'end', end: { keys: this.#keys, leases: this.#leases } })
    this.#flush()
    fsyncSync(this.#descriptor)
    this.#close()
    this.#giveName()
    syncFolder(path.dirname(path.resolve(this.#file)))
  }

  /** Removes what was written so far, so that a full disk has its room back. */
  abandon(): void {
    this.#close()
    rmSync(this.#partial, { force: true })
  }

  /** A rename would write over a backup that got this name meanwhile; a link fails. */
  #giveName(): void {
    try {
      linkSync(this.#partial, this.#file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      throw new BackupError('is there already; choose another name')
    }
    rmSync(this.#partial)
  }

  /** Once only: by a second time the number may be that of another file. */
  #close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    closeSync(this.#descriptor)
  }

  #push(bytes: Buffer): void {
    this.#pending.push(bytes)
    this.#pendingBytes += bytes.length
    if (this.#pendingBytes >= BUFFER_BYTES) this.#flush()
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#pending)
    this.#pending = []
    this.#pendingBytes = 0
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#descriptor, bytes, done)
  }
}

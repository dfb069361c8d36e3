/**
 * Thread: data. Writes a backup under a temporary name, and gives it its own once it is whole and on the disk: whatever
 * happens on the way, a file with that name is a whole backup.
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
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

  /** Throws when there is a file of that name. */
  constructor(file: string) {
    this.#file = file
    this.#partial = `${file}.part`
    if (existsSync(file)) throw new BackupError('is there already; choose another name')
    // It holds Secrets as they are stored: nobody else may read it.
    this.#descriptor = openSync(this.#partial, 'w', 0o600)
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
    closeSync(this.#descriptor)
    renameSync(this.#partial, this.#file)
    const folder = openSync(path.dirname(path.resolve(this.#file)), 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  }

  /** Removes what was written so far, so that a full disk has its room back. */
  abandon(): void {
    closeSync(this.#descriptor)
    rmSync(this.#partial, { force: true })
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

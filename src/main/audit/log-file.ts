/**
 * Thread: audit. A file that is written to its end and then begun anew. Older ones keep their time in their names, are
 * compressed if wanted, and go when they are too many or too old. Its thread has nothing else to do, so it writes as it comes.
 */
import {
  closeSync,
  createReadStream,
  createWriteStream,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Clock } from '../../lib/clock.js'

const MB = 1024 * 1024
const DAY_MS = 24 * 3_600_000
const STDOUT = 1

export interface LogFileOptions {
  /** The path of the file; `-` for standard output, which is never rotated. */
  readonly path: string
  /** The size at which the file is begun anew; 0 for never. */
  readonly maxSizeMb: number
  /** The age at which rotated files go; 0 when they are kept whatever their age. So with their number below. */
  readonly maxAgeDays: number
  readonly maxBackups: number
  readonly compress: boolean
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

export class LogFile {
  readonly #options: LogFileOptions
  #descriptor: number | undefined
  #size = 0
  #tidying: Promise<void> = Promise.resolve()

  constructor(options: LogFileOptions) {
    this.#options = options
  }

  /** Throws what the file system says. */
  write(text: string): void {
    const bytes = Buffer.from(text)
    const { maxSizeMb } = this.#options
    let descriptor = this.#descriptor ?? this.#open()
    if (this.#options.path !== '-' && maxSizeMb > 0 && this.#size > 0 && this.#size + bytes.byteLength > maxSizeMb * MB)
      descriptor = this.#rotate()
    for (let at = 0; at < bytes.byteLength; ) at += writeSync(descriptor, bytes, at)
    this.#size += bytes.byteLength
  }

  async close(): Promise<void> {
    if (this.#descriptor !== undefined && this.#options.path !== '-') closeSync(this.#descriptor)
    this.#descriptor = undefined
    await this.#tidying
  }

  #open(): number {
    const { path: file } = this.#options
    if (file === '-') {
      this.#descriptor = STDOUT
      return STDOUT
    }
    mkdirSync(path.dirname(file), { recursive: true })
    const descriptor = openSync(file, 'a', 0o600)
    this.#size = fstatSync(descriptor).size
    this.#descriptor = descriptor
    return descriptor
  }

  #rotate(): number {
    const { path: file, clock } = this.#options
    closeSync(this.#descriptor!)
    this.#descriptor = undefined
    const { dir, name, ext } = path.parse(file)
    const time = new Date(clock.now()).toISOString().replace(/:/g, '-').slice(0, -1)
    renameSync(file, path.join(dir, `${name}-${time}${ext}`))
    this.#tidying = this.#tidying.then(() => this.#tidy()).catch(this.#options.onError)
    return this.#open()
  }

  async #tidy(): Promise<void> {
    const { path: file, maxAgeDays, maxBackups, compress, clock } = this.#options
    const { dir, name, ext } = path.parse(file)
    const old: { file: string; time: number }[] = []
    for (const entry of readdirSync(dir === '' ? '.' : dir)) {
      if (!entry.startsWith(`${name}-`)) continue
      const time = /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3})(.*)$/.exec(entry.slice(name.length + 1))
      if (time === null || (time[5] !== ext && time[5] !== `${ext}.gz`)) continue
      old.push({ file: path.join(dir, entry), time: Date.parse(`${time[1]}${time[2]}:${time[3]}:${time[4]}Z`) })
    }
    old.sort((a, b) => b.time - a.time)
    const goes = (time: number, i: number): boolean =>
      (maxBackups > 0 && i >= maxBackups) || (maxAgeDays > 0 && clock.now() - time > maxAgeDays * DAY_MS)
    for (const [i, one] of old.entries()) {
      if (goes(one.time, i)) rmSync(one.file, { force: true })
      else if (compress && !one.file.endsWith('.gz')) await compressed(one.file)
    }
  }
}

async function compressed(file: string): Promise<void> {
  await pipeline(createReadStream(file), createGzip(), createWriteStream(`${file}.gz.part`, { mode: 0o600 }))
  renameSync(`${file}.gz.part`, `${file}.gz`)
  rmSync(file)
}

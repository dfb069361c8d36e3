/** A disk of its own for a folder, so small that it can be filled: a file system in memory, which only root may mount. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { leftovers } from './leftovers.js'

export const canMount = process.platform === 'linux' && process.getuid?.() === 0

const BLOCK = Buffer.alloc(1 << 16)

export class SmallDisk {
  readonly folder: string
  isFull = false

  readonly #unmounted: () => void

  private constructor(folder: string) {
    this.folder = folder
    this.#unmounted = leftovers.add(() => this.unmount())
  }

  static mount(folder: string, megabytes: number): SmallDisk {
    mkdirSync(folder, { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'keelson-faults', folder])
    return new SmallDisk(folder)
  }

  get #filler(): string {
    return path.join(this.folder, 'filler')
  }

  /** Takes what is left, to the last byte. */
  fill(): void {
    this.isFull = true
    const file = openSync(this.#filler, 'a')
    try {
      for (let size = BLOCK.length; size > 0; ) {
        try {
          writeSync(file, BLOCK, 0, size)
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
          size >>= 1
        }
      }
    } finally {
      closeSync(file)
    }
  }

  empty(): void {
    this.isFull = false
    rmSync(this.#filler, { force: true })
  }

  /** Lazily: somebody who is just being killed may still have a file open. */
  unmount(): void {
    execFileSync('umount', ['-l', this.folder])
    this.#unmounted()
  }
}

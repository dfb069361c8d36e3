import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from './temporary-folder.js'

/** The folder of a file system of a few megabytes; undefined where this process may not mount one. */
export function smallVolume(t: Test, megabytes: number): string | undefined {
  const folder = path.join(temporaryFolder(t, 'full'), 'volume')
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  t.teardown(() => execFileSync('umount', ['-l', folder]))
  return folder
}

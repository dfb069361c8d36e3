/**
 * Thread: any. Brings the names in a folder to the disk: a file that was renamed or linked is found there after a power cut. Windows
 * cannot sync a folder (FlushFileBuffers wants a handle that may write, which it gives for files only); NTFS keeps names in its journal.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs'

export function syncFolder(folder: string, platform = process.platform): void {
  if (platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

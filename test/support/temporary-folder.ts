import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Test } from 'tap'

/** A folder of its own for a test, removed after it. */
export function temporaryFolder(t: Test, name: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), `keelson-${name}-`))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

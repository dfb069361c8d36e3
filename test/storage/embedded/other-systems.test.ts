import { chmodSync, statSync } from 'node:fs'
import path from 'node:path'
import { type Test, test } from 'tap'
import { syncFolder } from '#keelson/lib/sync-folder.js'
import { prepareDataDirectory } from '#keelson/storage/embedded/data-directory.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

/** As on a system without users by number, until the test ends. */
function pretend(t: Test, platform: NodeJS.Platform): void {
  for (const [name, value] of [
    ['platform', platform],
    ['getuid', undefined],
  ] as const) {
    const real = Object.getOwnPropertyDescriptor(process, name)!
    Object.defineProperty(process, name, { ...real, value })
    t.teardown(() => Object.defineProperty(process, name, real))
  }
}

test('the names in a folder are not synced on Windows, which cannot', (t) => {
  const absent = path.join(temporaryFolder(t, 'sync'), 'absent')
  t.doesNotThrow(() => syncFolder(absent, 'win32'))
  t.throws(() => syncFolder(absent, 'linux'), { code: 'ENOENT' })
  t.throws(() => syncFolder(absent, 'darwin'), { code: 'ENOENT' })
  t.doesNotThrow(() => syncFolder(path.dirname(absent)))
  t.end()
})

test('the mode that Node makes up on Windows is no reason to refuse a folder', (t) => {
  const folder = temporaryFolder(t, 'modes')
  chmodSync(folder, 0o777)
  t.test('on Windows', (t) => {
    pretend(t, 'win32')
    t.doesNotThrow(() => prepareDataDirectory(folder))
    t.equal(statSync(folder).mode & 0o777, 0o777)
    t.end()
  })
  t.test('elsewhere', (t) => {
    pretend(t, 'linux')
    t.throws(() => prepareDataDirectory(folder), { code: 'data-dir-open' })
    t.end()
  })
  t.end()
})

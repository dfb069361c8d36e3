import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'
import { kvSuite } from '../../support/kv-suite.js'

const folders: string[] = []
t.teardown(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

kvSuite(t, 'embedded engine on disk', {
  open() {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'keelson-embedded-'))
    folders.push(dataDir)
    return EmbeddedEngine.open({ dataDir })
  },
})

kvSuite(t, 'embedded engine in memory', { open: () => EmbeddedEngine.open({}) })

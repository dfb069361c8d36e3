import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'
import { FakeClock } from '../support/fake-clock.js'
import { everyBehaviour } from './behaviours.js'
import { openCacher } from './cacher-harness.js'
import { runSuite } from './suite.js'

const clock = new FakeClock()
const dataDir = mkdtempSync(path.join(tmpdir(), 'keelson-contract-'))
const kv = await EmbeddedEngine.open({ dataDir, clock })
let opened = 0

runSuite(
  {
    name: 'cacher over the embedded engine',
    cached: true,
    open: () =>
      openCacher({
        kv,
        local: kv,
        pathPrefix: `/registry-${++opened}`,
        progressTrusted: () => Promise.resolve(true),
        passTime: (seconds) => clock.advance(seconds * 1000),
      }),
    async close() {
      await kv.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  },
  everyBehaviour,
)

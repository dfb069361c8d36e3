import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { EmbeddedEngine } from '#keelson/storage/embedded/embedded-engine.js'
import { FakeClock } from '../support/fake-clock.js'
import { everyBehaviour } from './behaviours.js'
import { openStore } from './store-harness.js'
import { runSuite } from './suite.js'

const clock = new FakeClock()
const dataDir = mkdtempSync(path.join(tmpdir(), 'keelson-contract-'))
const kv = await EmbeddedEngine.open({ dataDir, clock })
let opened = 0

runSuite(
  {
    name: 'KVStore over the embedded engine',
    cached: false,
    async open() {
      const pathPrefix = `/registry-${++opened}`
      const { store, counting, transformer } = openStore(kv, pathPrefix, { clock })
      return {
        storage: store,
        kv,
        reads: counting.reads,
        transformer,
        pathPrefix,
        passTime: (seconds) => clock.advance(seconds * 1000),
        progressOnDemand: () => Promise.resolve(true),
        now: () => clock.now(),
        close: () => store.close(),
      }
    },
    async close() {
      await kv.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  },
  everyBehaviour,
)

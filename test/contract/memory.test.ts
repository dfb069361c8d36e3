import { FakeClock } from '../support/fake-clock.js'
import { MemoryKV } from '../support/memory-kv.js'
import { everyBehaviour } from './behaviours.js'
import { openStore } from './store-harness.js'
import { runSuite } from './suite.js'

runSuite(
  {
    name: 'KVStore over memory',
    cached: false,
    async open() {
      const clock = new FakeClock()
      const kv = new MemoryKV(clock)
      const { store, counting, transformer } = openStore(kv, '/registry', { clock })
      return {
        storage: store,
        kv,
        reads: counting.reads,
        transformer,
        pathPrefix: '/registry',
        passTime: (seconds) => clock.advance(seconds * 1000),
        progressOnDemand: () => Promise.resolve(true),
        now: () => clock.now(),
        close: async () => {
          await store.close()
          await kv.close()
        },
      }
    },
    close: () => Promise.resolve(),
  },
  everyBehaviour,
)

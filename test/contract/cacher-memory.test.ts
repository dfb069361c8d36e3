import { FakeClock } from '../support/fake-clock.js'
import { MemoryKV } from '../support/memory-kv.js'
import { everyBehaviour } from './behaviours.js'
import { openCacher } from './cacher-harness.js'
import { runSuite } from './suite.js'

runSuite(
  {
    name: 'cacher over memory',
    cached: true,
    async open() {
      const clock = new FakeClock()
      const kv = new MemoryKV(clock)
      return openCacher({
        kv,
        local: kv,
        pathPrefix: '/registry',
        progressTrusted: () => Promise.resolve(true),
        passTime: (seconds) => clock.advance(seconds * 1000),
      })
    },
    close: () => Promise.resolve(),
  },
  everyBehaviour,
)

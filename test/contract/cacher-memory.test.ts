import { systemClock } from '#keelson/lib/clock.js'
import type { KV } from '#keelson/storage/kv.js'
import { openCachedStorage } from '../support/cached-storage.js'
import { FakeClock } from '../support/fake-clock.js'
import { MemoryKV } from '../support/memory-kv.js'
import { draftOf } from '../support/plain-object.js'
import { everyBehaviour } from './behaviours.js'
import { newPod, podCodec } from './pod.js'
import { type OpenedStore, openStore } from './store-harness.js'
import { runSuite } from './suite.js'

runSuite(
  {
    name: 'cacher over memory',
    cached: true,
    async open() {
      const clock = new FakeClock()
      // A wait for a version in the future does not keep the process alive by itself.
      const alive = setInterval(() => undefined, 1000)
      const kv = new MemoryKV(clock)
      let opened: OpenedStore | undefined
      let gated: KV = kv
      const { delegator, cacher } = await openCachedStorage({
        kv,
        storage: (k) => {
          opened = openStore(k, '/registry', { leased: true })
          gated = k
          return { storage: opened.store, transformer: opened.transformer }
        },
        cacher: { clock: systemClock, local: true },
        pathPrefix: '/registry',
        resourcePrefix: '/pods',
        newObject: newPod,
        recordDraft: (data, key) => draftOf(podCodec.decode(data), key),
      })
      return {
        storage: delegator,
        kv: gated,
        reads: opened!.counting.reads,
        transformer: opened!.transformer,
        pathPrefix: '/registry',
        passTime: (seconds: number) => clock.advance(seconds * 1000),
        now: () => systemClock.now(),
        progressOnDemand: () => Promise.resolve(true),
        close: async () => {
          clearInterval(alive)
          await cacher.stop()
          await delegator.close()
          await kv.close()
        },
      }
    },
    close: () => Promise.resolve(),
  },
  everyBehaviour,
)

import { systemClock } from '#keelson/lib/clock.js'
import type { KV } from '#keelson/storage/contract/kv.js'
import type { LocalKV } from '#keelson/storage/contract/local-kv.js'
import { openCachedStorage } from '../support/cached-storage.js'
import { draftOf } from '../support/plain-object.js'
import { newPod, podCodec } from './pod.js'
import { type OpenedStore, openStore } from './store-harness.js'
import type { Opened } from './subject.js'

export interface CachedEngine {
  readonly kv: KV
  /** `kv`, when it is in this process and written by nobody else. Else others write too, past the cacher. */
  readonly local?: LocalKV
  readonly pathPrefix: string
  readonly progressTrusted: () => Promise<boolean>
  readonly passTime: (seconds: number) => Promise<void>
}

/** A cacher around a KVStore, with the watch cache in this thread. */
export async function openCacher(engine: CachedEngine): Promise<Opened> {
  const { kv, local, pathPrefix, progressTrusted, passTime } = engine
  // A wait for a version in the future does not keep the process alive by itself.
  const alive = setInterval(() => undefined, 1000)
  let opened: OpenedStore | undefined
  const { delegator, cacher } = await openCachedStorage({
    kv,
    storage: (applied) => {
      opened = openStore(applied, pathPrefix, { leased: true })
      return { storage: opened.store, transformer: opened.transformer }
    },
    // Long enough that no mark is written for what the stream brings anyway: the suite counts revisions.
    cacher: { clock: systemClock, ...(local === undefined ? {} : { local }), progressTrusted, progressGraceMs: 1000 },
    pathPrefix,
    resourcePrefix: '/pods',
    newObject: newPod,
    recordDraft: (data, key) => draftOf(podCodec.decode(data), key),
  })
  return {
    storage: delegator,
    kv: cacher.kv,
    reads: opened!.counting.reads,
    transformer: opened!.transformer,
    pathPrefix,
    passTime,
    progressOnDemand: progressTrusted,
    now: () => systemClock.now(),
    close: async () => {
      clearInterval(alive)
      await cacher.stop()
      await delegator.close()
    },
  }
}

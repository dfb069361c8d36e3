/**
 * Thread: any. How many objects a resource has and how large they are on average. The count is exact; the size is
 * a mean over a bounded sample taken anew each time, because remembering the size of every key (as kube-apiserver does)
 * costs every process more memory than reading a megabyte once a minute.
 */
import type { StorageStats } from '../contract/interface.js'
import type { KV } from '../contract/kv.js'

const SAMPLE_CHUNK = 32
const SAMPLE_OBJECTS = 512
const SAMPLE_BYTES = 1 << 20

export async function sampleStats(kv: KV, prefix: string): Promise<StorageStats> {
  let objectCount = 0
  let sampled = 0
  let bytes = 0
  let startKey = prefix
  for (;;) {
    const chunk = await kv.list(prefix, { startKey, limit: SAMPLE_CHUNK })
    if (sampled === 0) objectCount = chunk.count
    for (const { value } of chunk.kvs) bytes += value.length
    sampled += chunk.kvs.length
    const last = chunk.kvs.at(-1)
    if (!chunk.more || last === undefined || sampled >= SAMPLE_OBJECTS || bytes >= SAMPLE_BYTES) break
    startKey = `${last.key}\0`
  }
  return { objectCount, estimatedAverageObjectSizeBytes: sampled === 0 ? 0 : Math.floor(bytes / sampled) }
}

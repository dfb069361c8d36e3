import { ForwardingKV } from '#keelson/storage/contract/forwarding-kv.js'
import type { CallOptions, KvListOptions } from '#keelson/storage/contract/kv.js'

/** What was asked of a key-value store. */
export interface KvReads {
  gets: number
  lists: { prefix: string; limit: number; revision: number }[]
}

/** Counts reads. */
export class CountingKV extends ForwardingKV {
  readonly reads: KvReads = { gets: 0, lists: [] }

  override get(key: string, options?: CallOptions) {
    this.reads.gets++
    return super.get(key, options)
  }

  override list(prefix: string, options: KvListOptions = {}) {
    this.reads.lists.push({ prefix, limit: options.limit ?? 0, revision: options.revision ?? 0 })
    return super.list(prefix, options)
  }
}

/** Thread: owner. Everything under a prefix at one revision, a page at a time. */
import type { KeyValue, KV } from '../../storage/contract/kv.js'

export interface PagesOptions {
  readonly kv: KV
  readonly prefix: string
  readonly pageSize: number
  /** 0: pinned at whatever revision answers the first page. */
  readonly revision: number
  readonly signal: AbortSignal
}

export interface Page {
  readonly kvs: readonly KeyValue[]
  /** The pinned revision; the same in every page. */
  readonly revision: number
  readonly last: boolean
}

export async function* listPages(options: PagesOptions): AsyncGenerator<Page, void, undefined> {
  const { kv, prefix, pageSize, signal } = options
  let revision = options.revision
  let startKey = prefix
  for (;;) {
    const result = await kv.list(prefix, { startKey, limit: pageSize, revision, signal })
    if (revision === 0) revision = result.revision
    yield { kvs: result.kvs, revision, last: !result.more }
    const lastKv = result.kvs.at(-1)
    if (!result.more || lastKv === undefined) return
    // The smallest key after the last one.
    startKey = `${lastKv.key}\0`
  }
}

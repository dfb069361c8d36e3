/** Thread: owner. Lists everything under a prefix at one revision, a page at a time. */
import type { KeyValue, KV } from '../../storage/contract/kv.js'

export interface PagesOptions {
  readonly kv: KV
  readonly prefix: string
  readonly pageSize: number
  /** The revision of all pages; 0 stands for the one that answers the first page. */
  readonly revision: number
  readonly signal: AbortSignal
}

export interface Page {
  readonly kvs: readonly KeyValue[]
  /** The revision of the page, which is that of all pages. */
  readonly revision: number
  readonly last: boolean
  /** How many objects there are in all. */
  readonly count: number
}

export async function* listPages(options: PagesOptions): AsyncGenerator<Page, void, undefined> {
  const { kv, prefix, pageSize, signal } = options
  let revision = options.revision
  let startKey = prefix
  let count: number | undefined
  for (;;) {
    const result = await kv.list(prefix, {
      startKey,
      limit: pageSize,
      revision,
      signal,
      uncounted: count !== undefined,
    })
    if (revision === 0) revision = result.revision
    count ??= result.count
    yield { kvs: result.kvs, revision, last: !result.more, count }
    const lastKv = result.kvs.at(-1)
    if (!result.more || lastKv === undefined) return
    // The next page starts at the smallest key after the last one of this page.
    startKey = `${lastKv.key}\0`
  }
}

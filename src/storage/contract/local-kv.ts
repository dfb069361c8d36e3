/** Thread: owner. A key-value store that lives in this thread and is served to others. */
import type { KV, KvWatch, KvWatchOptions } from './kv.js'

export interface LocalWatch extends KvWatch {
  /** Asks for a progress batch on this watch alone. */
  requestProgress(): void
}

export interface LocalKV extends KV {
  /** Opens a watch whose progress can be asked for alone, for whoever serves the watches of several clients. */
  openWatch(options: KvWatchOptions): LocalWatch
}

/**
 * Thread: any. etcd leaves the previous value out when it is compacted, and also (a race in its server) for events
 * that come just as the watch is made. The latter are read at the revision before the event.
 */
import type { KeyValue, KvEvent, KvWatchBatch } from '../contract/kv.js'

const lacksPrevious = (event: KvEvent): boolean =>
  event.prev === undefined && (event.type === 'delete' || event.kv.version !== 1)

/** `readAt` gives undefined when the revision is compacted. */
export function withPreviousValues(
  batch: KvWatchBatch,
  readAt: (key: string, revision: number) => Promise<KeyValue | undefined>,
): KvWatchBatch | Promise<KvWatchBatch> {
  return batch.events.some(lacksPrevious) ? fill(batch, readAt) : batch
}

async function fill(
  batch: KvWatchBatch,
  readAt: (key: string, revision: number) => Promise<KeyValue | undefined>,
): Promise<KvWatchBatch> {
  const events: KvEvent[] = []
  for (const event of batch.events) {
    const prev = lacksPrevious(event) ? await readAt(event.kv.key, event.kv.modRevision - 1) : event.prev
    events.push({ ...event, prev })
  }
  return { events, revision: batch.revision }
}

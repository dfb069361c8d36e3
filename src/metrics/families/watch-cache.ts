/** Thread: any. Metrics of shared memory, and of what is read from it. */
import { BY_RESOURCE, counter, exponential, gauge, histogram } from './definition.js'

export const cacheDefinitions = {
  lists: counter('apiserver_cache_list_total', 'Lists answered from memory.', ...BY_RESOURCE, 'index'),
  fetched: counter(
    'apiserver_cache_list_fetched_objects_total',
    'Objects that lists from memory looked at.',
    ...BY_RESOURCE,
    'index',
  ),
  returned: counter(
    'apiserver_cache_list_returned_objects_total',
    'Objects that lists from memory returned.',
    ...BY_RESOURCE,
  ),
  consistentReads: counter(
    'apiserver_watch_cache_consistent_read_total',
    'Consistent reads from memory.',
    ...BY_RESOURCE,
    'success',
    'fallback',
  ),
  readWait: histogram(
    'apiserver_watch_cache_read_wait_seconds',
    'Time that reads waited until memory was new enough.',
    [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3],
    ...BY_RESOURCE,
  ),
  received: counter(
    'apiserver_watch_cache_events_received_total',
    'Events that the watch cache took in.',
    ...BY_RESOURCE,
  ),
  dispatched: counter(
    'apiserver_watch_cache_events_dispatched_total',
    'Events that the watch cache handed on to watchers.',
    ...BY_RESOURCE,
  ),
  initializations: counter(
    'apiserver_watch_cache_initializations_total',
    'How often the cache of a resource was filled.',
    ...BY_RESOURCE,
  ),
  resourceVersion: gauge(
    'apiserver_watch_cache_resource_version',
    'The revision that the cache of a resource is at.',
    ...BY_RESOURCE,
  ),
  capacity: gauge('watch_cache_capacity', 'Events that the log of a resource holds.', ...BY_RESOURCE),
  capacityIncrease: counter('watch_cache_capacity_increase_total', 'How often a log grew.', ...BY_RESOURCE),
  capacityDecrease: counter('watch_cache_capacity_decrease_total', 'How often a log shrank.', ...BY_RESOURCE),
  fenceWait: histogram(
    'keelson_fence_wait_seconds',
    'Time that a revision fence took: once for all reads that wait for it.',
    exponential(0.0005, 2, 14),
    'passed',
  ),
  ready: gauge('keelson_cache_ready', '1 while a resource is served from memory.', ...BY_RESOURCE),
  fallbacks: counter(
    'keelson_cache_fallbacks_total',
    'How often a resource fell back to its storage.',
    ...BY_RESOURCE,
    'reason',
  ),
  staleFollowers: gauge(
    'keelson_stale_followers',
    'Indexes (of roles, bindings, flow schemas...) that rest on the last known state of a resource that is not in memory.',
    ...BY_RESOURCE,
  ),
  objects: gauge('keelson_cache_objects', 'Objects in shared memory.', ...BY_RESOURCE),
  memory: gauge(
    'keelson_cache_memory_bytes',
    'Shared memory by kind: used, free, pinned, segments.',
    ...BY_RESOURCE,
    'kind',
  ),
  window: gauge('keelson_snapshot_window', 'Snapshots that are kept for lists at a revision.', ...BY_RESOURCE),
  conversions: counter(
    'keelson_conversion_cache_total',
    'Objects asked for in another form, by whether the form was at hand.',
    'result',
  ),
  conversionBytes: gauge('keelson_conversion_cache_bytes', 'Bytes of other forms that are kept.'),
  slowLists: counter(
    'keelson_slow_lists_total',
    'Lists whose clients took longer than a second: copied, read again piece by piece, or lost and broken off.',
    ...BY_RESOURCE,
    'outcome',
  ),
  slowListBytes: gauge('keelson_slow_list_copies_bytes', 'Bytes that were copied for lists that are read slowly.'),
}

/**
 * Thread: any. Every metric that threads count in shared memory: kube-apiserver's names, labels and buckets where it has
 * one, keelson_… for what is ours. docs/metrics.md is generated from this table.
 */
import type { Family, FamilyType } from './family.js'

const table: Family[] = []

function family(
  type: FamilyType,
  name: string,
  help: string,
  labels: readonly string[],
  buckets: readonly number[],
): Family {
  const made: Family = { id: table.length, name, type, help, labels, buckets, merge: 'sum' }
  table.push(made)
  return made
}
const counter = (name: string, help: string, ...labels: readonly string[]): Family =>
  family('counter', name, help, labels, [])
const gauge = (name: string, help: string, ...labels: readonly string[]): Family =>
  family('gauge', name, help, labels, [])
/** A gauge that says the same in every thread: the largest of them counts, not their sum. */
const sharedGauge = (name: string, help: string, ...labels: readonly string[]): Family => {
  const made: Family = { ...gauge(name, help, ...labels), merge: 'max' }
  table[made.id] = made
  return made
}
const histogram = (name: string, help: string, buckets: readonly number[], ...labels: readonly string[]): Family =>
  family('histogram', name, help, labels, buckets)
/** `count` bounds from `start` on, each `factor` times the one before. */
const exponential = (start: number, factor: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => start * factor ** i)

const REQUEST = ['group', 'version', 'resource', 'subresource', 'scope', 'component'] as const
const BY_RESOURCE = ['group', 'resource'] as const
const REQUEST_SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]
const ADMISSION_SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5]
const QUEUE_SECONDS = exponential(1e-8, 10, 10)

export const requestFamilies = {
  total: counter('apiserver_request_total', 'Requests answered.', 'verb', 'dry_run', ...REQUEST, 'code'),
  duration: histogram(
    'apiserver_request_duration_seconds',
    'Time from the first byte of a request to the end of its answer.',
    REQUEST_SECONDS,
    'verb',
    'dry_run',
    ...REQUEST,
  ),
  sliDuration: histogram(
    'apiserver_request_sli_duration_seconds',
    'The same less the time in the queues of flow control.',
    REQUEST_SECONDS.slice(2),
    'verb',
    ...REQUEST,
  ),
  responseSizes: histogram(
    'apiserver_response_sizes',
    'Bytes of the answers to reads.',
    exponential(1000, 10, 7),
    'verb',
    ...REQUEST,
  ),
  bodySizes: histogram(
    'apiserver_request_body_size_bytes',
    'Bytes of the bodies of requests.',
    Array.from({ length: 31 }, (_, i) => 50_000 + i * 100_000),
    ...BY_RESOURCE,
    'verb',
  ),
  terminations: counter(
    'apiserver_request_terminations_total',
    'Requests that the server ended to protect itself.',
    'verb',
    ...REQUEST,
    'code',
  ),
  longRunning: gauge('apiserver_longrunning_requests', 'Watches and streams that are open.', 'verb', ...REQUEST),
  inflight: gauge('apiserver_current_inflight_requests', 'Requests under way.', 'request_kind'),
  inqueue: gauge('apiserver_current_inqueue_requests', 'Requests that wait for their turn.', 'request_kind'),
  deprecated: sharedGauge(
    'apiserver_requested_deprecated_apis',
    '1 for each deprecated API that was asked for.',
    'group',
    'version',
    'resource',
    'subresource',
    'removed_release',
  ),
  aborted: counter(
    'apiserver_request_aborts_total',
    'Requests whose client went away.',
    'verb',
    ...REQUEST.slice(0, -1),
  ),
  exchangeFailures: counter(
    'keelson_exchange_failures_total',
    'Exchanges that an exception in a callback has ended; the process goes on.',
  ),
}

export const authFamilies = {
  users: counter(
    'authenticated_user_requests',
    'Requests by who made them: well-known names, the others together.',
    'username',
  ),
  attempts: counter('authentication_attempts', 'Authentications by result.', 'result'),
  duration: histogram(
    'authentication_duration_seconds',
    'Time that authentication took.',
    exponential(0.001, 2, 15),
    'result',
  ),
  certificateExpiration: histogram(
    'apiserver_client_certificate_expiration_seconds',
    'How long client certificates were still valid.',
    [
      0, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 2_592_000, 7_776_000, 15_552_000,
      31_104_000,
    ],
  ),
  decisions: counter(
    'apiserver_authorization_decisions_total',
    'Requests that an authorizer allowed or denied.',
    'type',
    'name',
    'decision',
  ),
  authorizations: counter('authorization_attempts_total', 'Authorizations by result.', 'result'),
  authorizationDuration: histogram(
    'authorization_duration_seconds',
    'Time that authorization took.',
    exponential(0.001, 2, 15),
    'result',
  ),
}

const FLOW = ['priority_level', 'flow_schema'] as const
const FLOW_SECONDS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]

export const flowFamilies = {
  executing: gauge('apiserver_flowcontrol_current_executing_requests', 'Requests that have seats.', ...FLOW),
  seats: gauge('apiserver_flowcontrol_current_executing_seats', 'Seats that requests have.', ...FLOW),
  inqueue: gauge('apiserver_flowcontrol_current_inqueue_requests', 'Requests that wait in a queue.', ...FLOW),
  dispatched: counter('apiserver_flowcontrol_dispatched_requests_total', 'Requests that were let in.', ...FLOW),
  rejected: counter(
    'apiserver_flowcontrol_rejected_requests_total',
    'Requests that were turned away.',
    ...FLOW,
    'reason',
  ),
  limit: gauge(
    'apiserver_flowcontrol_nominal_limit_seats',
    'Seats that a level has when nobody lends or borrows.',
    'priority_level',
  ),
  currentLimit: gauge('apiserver_flowcontrol_current_limit_seats', 'Seats that a level has now.', 'priority_level'),
  wait: histogram(
    'apiserver_flowcontrol_request_wait_duration_seconds',
    'Time that requests waited in their queue.',
    FLOW_SECONDS,
    ...FLOW,
    'execute',
  ),
  execution: histogram(
    'apiserver_flowcontrol_request_execution_seconds',
    'Time that requests had their seats.',
    FLOW_SECONDS,
    ...FLOW,
    'type',
  ),
  inqueueSeats: gauge('apiserver_flowcontrol_current_inqueue_seats', 'Seats that waiting requests ask for.', ...FLOW),
  queueLength: histogram(
    'apiserver_flowcontrol_request_queue_length_after_enqueue',
    'Length of the queue that a request has joined.',
    [0, 10, 25, 50, 100, 250, 500, 1000],
    ...FLOW,
  ),
  estimatedSeats: histogram(
    'apiserver_flowcontrol_work_estimated_seats',
    'Seats that requests were estimated to need.',
    [1, 2, 4, 8, 16, 32, 64, 100],
    ...FLOW,
  ),
  noRoom: counter(
    'apiserver_flowcontrol_request_dispatch_no_accommodation_total',
    'Times that the next request did not fit into the seats that were left.',
    ...FLOW,
  ),
  lowerLimit: gauge('apiserver_flowcontrol_lower_limit_seats', 'Seats that a level lends to nobody.', 'priority_level'),
  upperLimit: gauge(
    'apiserver_flowcontrol_upper_limit_seats',
    'Seats that a level can have at most.',
    'priority_level',
  ),
  demandHigh: gauge(
    'apiserver_flowcontrol_demand_seats_high_watermark',
    'Most seats that a level could have used in the last period.',
    'priority_level',
  ),
  demandAverage: gauge(
    'apiserver_flowcontrol_demand_seats_average',
    'Seats that a level could have used in the last period, on average.',
    'priority_level',
  ),
  demandDeviation: gauge(
    'apiserver_flowcontrol_demand_seats_stdev',
    'Standard deviation of the seats that a level could have used in the last period.',
    'priority_level',
  ),
  demandSmoothed: gauge(
    'apiserver_flowcontrol_demand_seats_smoothed',
    'Seats that a level could use, smoothed over periods.',
    'priority_level',
  ),
  target: gauge(
    'apiserver_flowcontrol_target_seats',
    'Seats that a level would get if there were enough for all.',
    'priority_level',
  ),
  fairFraction: sharedGauge('apiserver_flowcontrol_seat_fair_frac', 'Part of its target that every level gets.'),
}

export const watchFamilies = {
  events: counter('apiserver_watch_events_total', 'Events sent to watchers.', 'group', 'version', 'resource'),
  eventSizes: histogram(
    'apiserver_watch_events_sizes',
    'Bytes of the events sent to watchers.',
    exponential(1024, 2, 8),
    'group',
    'version',
    'resource',
  ),
  listDuration: histogram(
    'apiserver_watch_list_duration_seconds',
    'Time until a watch with initial events has sent them.',
    [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60],
    'group',
    'version',
    'resource',
    'scope',
  ),
  initialEvents: counter('apiserver_init_events_total', 'Initial events sent to watchers.', ...BY_RESOURCE),
  terminated: counter(
    'apiserver_terminated_watchers_total',
    'Watchers that were ended because they did not keep up.',
    ...BY_RESOURCE,
  ),
  watchers: gauge('keelson_watchers', 'Open watches.', ...BY_RESOURCE),
  parked: gauge('keelson_parked_watchers', 'Watchers that wait for their client to read.', ...BY_RESOURCE),
}

export const cacheFamilies = {
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

const TRANSFORMATION_SECONDS = exponential(5e-6, 2, 25)

export const storageFamilies = {
  objects: gauge('apiserver_storage_objects', 'Objects stored, as last counted; -1 when counting failed.', 'resource'),
  resourceObjects: gauge('apiserver_resource_objects', 'The same, by group and resource.', ...BY_RESOURCE),
  sizeEstimate: gauge(
    'apiserver_resource_size_estimate_bytes',
    'Estimated bytes of the stored objects; -1 when unknown.',
    ...BY_RESOURCE,
  ),
  dbSize: gauge('apiserver_storage_db_total_size_in_bytes', 'Size of the database of the storage.', 'endpoint'),
  size: gauge('apiserver_storage_size_bytes', 'Size of the database of a storage cluster.', 'storage_cluster_id'),
  eventsReceived: counter(
    'apiserver_storage_events_received_total',
    'Events that came from the storage.',
    ...BY_RESOURCE,
  ),
  lists: counter('apiserver_storage_list_total', 'Lists read from the storage.', ...BY_RESOURCE),
  listFetched: counter(
    'apiserver_storage_list_fetched_objects_total',
    'Objects that lists read from the storage.',
    ...BY_RESOURCE,
  ),
  listEvaluated: counter(
    'apiserver_storage_list_evaluated_objects_total',
    'Objects that lists from the storage held against their selectors.',
    ...BY_RESOURCE,
  ),
  listReturned: counter(
    'apiserver_storage_list_returned_objects_total',
    'Objects that lists from the storage returned.',
    ...BY_RESOURCE,
  ),
  decodeErrors: counter(
    'apiserver_storage_decode_errors_total',
    'Stored objects that could not be understood.',
    ...BY_RESOURCE,
  ),
  transformationDuration: histogram(
    'apiserver_storage_transformation_duration_seconds',
    'Time that encryption at rest took.',
    TRANSFORMATION_SECONDS,
    'transformation_type',
    'transformer_prefix',
  ),
  transformations: counter(
    'apiserver_storage_transformation_operations_total',
    'Encryptions and decryptions.',
    'resource',
    'transformation_type',
    'transformer_prefix',
    'status',
  ),
  keyGenerations: histogram(
    'apiserver_storage_data_key_generation_duration_seconds',
    'Time that the making of data keys took.',
    TRANSFORMATION_SECONDS.slice(0, 14),
  ),
  keyGenerationFailures: counter(
    'apiserver_storage_data_key_generation_failures_total',
    'Data keys that could not be made.',
  ),
  envelopeCacheMisses: counter(
    'apiserver_storage_envelope_transformation_cache_misses_total',
    'Data keys that had to be decrypted anew.',
  ),
  etcdDuration: histogram(
    'etcd_request_duration_seconds',
    'Time that calls to the storage took.',
    REQUEST_SECONDS,
    'operation',
    ...BY_RESOURCE,
  ),
  etcdRequests: counter('etcd_requests_total', 'Calls to the storage.', 'operation', ...BY_RESOURCE),
  etcdErrors: counter('etcd_request_errors_total', 'Calls to the storage that failed.', 'operation', ...BY_RESOURCE),
  bookmarks: gauge('etcd_bookmark_counts', 'Progress notifications from the storage.', ...BY_RESOURCE),
  bookmarkTotal: counter('etcd_bookmark_total', 'Progress notifications from the storage.', ...BY_RESOURCE),
  leaseObjects: histogram(
    'etcd_lease_object_counts',
    'Objects that one lease was given to.',
    [10, 50, 100, 500, 1000, 2500, 5000],
  ),
  compactions: counter('keelson_compactions_total', 'Compactions of the storage.', 'result'),
  compactRevision: gauge('keelson_compact_revision', 'The revision up to which history is gone.'),
}

export const admissionFamilies = {
  controllers: histogram(
    'apiserver_admission_controller_admission_duration_seconds',
    'Time that a plugin took.',
    ADMISSION_SECONDS,
    'name',
    'type',
    'operation',
    'rejected',
  ),
  steps: histogram(
    'apiserver_admission_step_admission_duration_seconds',
    'Time that all plugins of a kind took.',
    ADMISSION_SECONDS,
    'type',
    'operation',
    'rejected',
  ),
}

export const processFamilies = {
  healthcheck: sharedGauge('kubernetes_healthcheck', '1 when a check passed the last time it ran.', 'name', 'type'),
  healthchecks: counter('kubernetes_healthchecks_total', 'Health checks by result.', 'name', 'type', 'status'),
  buildInfo: gauge(
    'kubernetes_build_info',
    'What was built, of what, with what.',
    'major',
    'minor',
    'git_version',
    'git_commit',
    'git_tree_state',
    'build_date',
    'go_version',
    'compiler',
    'platform',
  ),
  feature: gauge('kubernetes_feature_enabled', '1 for each feature that is on.', 'name', 'stage'),
  clientRequests: counter(
    'rest_client_requests_total',
    'Requests that this server made of others.',
    'code',
    'method',
    'host',
  ),
  poolQueue: gauge('keelson_pool_queue', 'Tasks that wait for a pool thread.'),
  poolTasks: counter('keelson_pool_tasks_total', 'Tasks given to the pool.', 'type'),
  poolReplaced: counter(
    'keelson_pool_threads_replaced_total',
    'Pool threads that were stuck or ended, and were replaced.',
    'reason',
  ),
  poolDuration: histogram(
    'keelson_pool_task_duration_seconds',
    'Time from giving a task to the pool to its result.',
    exponential(0.0005, 2, 14),
    'type',
  ),
  loopDelay: gauge('keelson_event_loop_delay_seconds', 'Delay of the event loop of a thread.', 'thread', 'quantile'),
  loopUtilization: gauge('keelson_event_loop_utilization', 'How busy a thread is, from 0 to 1.', 'thread'),
  threadCpu: counter('keelson_thread_cpu_seconds_total', 'Processor time of a thread.', 'thread'),
  threadHeap: gauge('keelson_thread_heap_bytes', 'JavaScript heap of a thread.', 'thread', 'kind'),
}

export const workqueueFamilies = {
  adds: counter('workqueue_adds_total', 'Items put into a queue of work.', 'name'),
  depth: gauge('workqueue_depth', 'Items in a queue of work.', 'name'),
  longestRunning: gauge(
    'workqueue_longest_running_processor_seconds',
    'How long the oldest item under way has taken.',
    'name',
  ),
  queueDuration: histogram('workqueue_queue_duration_seconds', 'Time that items waited.', QUEUE_SECONDS, 'name'),
  retries: counter('workqueue_retries_total', 'Items that were put back.', 'name'),
  unfinished: gauge('workqueue_unfinished_work_seconds', 'How long items under way have taken in all.', 'name'),
  workDuration: histogram('workqueue_work_duration_seconds', 'Time that items took.', QUEUE_SECONDS, 'name'),
}

export const auditFamilies = {
  events: counter('apiserver_audit_event_total', 'Audit events made.'),
  errors: counter('apiserver_audit_error_total', 'Audit events that could not be written.', 'plugin'),
  level: counter('apiserver_audit_level_total', 'Requests by their level of audit.', 'level'),
  rejected: counter('apiserver_audit_requests_rejected_total', 'Requests refused because audit failed.'),
}

/** All of them, each at its id. */
export const FAMILIES: readonly Family[] = table

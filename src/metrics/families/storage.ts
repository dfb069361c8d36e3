/** Thread: any. Metrics of the storage: its objects, its calls, encryption at rest. */
import { BY_RESOURCE, counter, exponential, gauge, histogram, REQUEST_SECONDS } from './definition.js'

const TRANSFORMATION_SECONDS = exponential(5e-6, 2, 25)

export const storageDefinitions = {
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
  commitDuration: histogram(
    'keelson_commit_duration_seconds',
    'Time that a durable commit of the embedded engine took, its sync included.',
    exponential(50e-6, 2, 14),
  ),
  commitWrites: counter('keelson_commit_writes_total', 'Writes that commits of the embedded engine held.'),
  compactions: counter('keelson_compactions_total', 'Compactions of the storage.', 'result'),
  damagedReads: counter(
    'keelson_storage_damaged_reads_total',
    'Reads of the embedded engine that found a record damaged; they failed, and nothing of it was served.',
  ),
  compactRevision: gauge('keelson_compact_revision', 'The revision up to which history is gone.'),
}

/** Thread: any. Metrics of the process, its threads and its pool. */
import { counter, exponential, gauge, histogram, sharedGauge } from './definition.js'

export const processDefinitions = {
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
  loopDelay: gauge(
    'keelson_event_loop_delay_seconds',
    'Delay of the event loop of a thread in the last five seconds.',
    'thread',
    'quantile',
  ),
  loopUtilization: gauge('keelson_event_loop_utilization', 'How busy a thread is, from 0 to 1.', 'thread'),
  threadCpu: counter('keelson_thread_cpu_seconds_total', 'Processor time of a thread.', 'thread'),
  threadGcSeconds: counter(
    'keelson_thread_gc_seconds_total',
    'Time in which a thread stood still to collect garbage.',
    'thread',
    'kind',
  ),
  threadGcRuns: counter('keelson_thread_gc_runs_total', 'Collections of garbage in a thread.', 'thread', 'kind'),
  threadHeap: gauge('keelson_thread_heap_bytes', 'JavaScript heap of a thread.', 'thread', 'kind'),
}

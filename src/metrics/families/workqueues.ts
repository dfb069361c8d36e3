/** Thread: any. Metrics of queues of work. */
import { counter, exponential, gauge, histogram } from './definition.js'

const QUEUE_SECONDS = exponential(1e-8, 10, 10)

export const workqueueDefinitions = {
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
  isLeader: gauge(
    'leader_election_master_status',
    'Whether this server holds the lease: 1, or 0 while it stands by.',
    'name',
  ),
  leaderSlowpaths: counter(
    'leader_election_slowpath_total',
    'How often the lease could not be renewed at the first attempt.',
    'name',
  ),
}

/** Thread: any. Metrics of watches, as clients see them. */
import { BY_RESOURCE, counter, exponential, gauge, histogram } from './definition.js'

export const watchDefinitions = {
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

/** Thread: any. Metrics of requests: how many, how long, how large. */
import { BY_RESOURCE, counter, exponential, gauge, histogram, REQUEST_SECONDS, sharedGauge } from './definition.js'

const REQUEST = ['group', 'version', 'resource', 'subresource', 'scope', 'component'] as const

export const requestDefinitions = {
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
  refusedConnections: counter(
    'keelson_connections_refused_total',
    'Connections of clients that were closed at once, because there were as many as the limit of open files allows.',
  ),
  slowAnswerBytes: gauge(
    'keelson_slow_answer_bytes',
    'Bytes of answers in a form of their own (converted, compressed) that are held for clients who read less than 1 MiB a second.',
  ),
  slowAnswersBroken: counter(
    'keelson_slow_answers_broken_off_total',
    'Answers that were broken off because clients who read slowly held more than 64 MiB of them.',
  ),
}

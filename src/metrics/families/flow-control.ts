/** Thread: any. Metrics of flow control: seats, queues, and what levels lend and borrow. */
import { counter, gauge, histogram, sharedGauge } from './definition.js'

const FLOW = ['priority_level', 'flow_schema'] as const
const FLOW_SECONDS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]

export const flowDefinitions = {
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

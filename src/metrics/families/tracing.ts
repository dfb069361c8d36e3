/** Thread: any. Metrics of tracing. */
import { counter } from './definition.js'

export const tracingDefinitions = {
  spans: counter(
    'keelson_trace_spans_total',
    'Spans by what became of them: sent to the collector, failed with it, or dropped because too many waited.',
    'result',
  ),
}

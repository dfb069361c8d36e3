/** Thread: any. The tracer of a thread, with its own way to the collector; undefined when nothing is traced. */
import type { Clock } from '../lib/clock.js'
import type { Logger } from '../lib/logger.js'
import { tracingFamilies } from '../metrics/families.js'
import type { Recorder } from '../metrics/recorder.js'
import type { TracingConfig } from '../protocol/tracing-config.js'
import { OtlpEncoder } from './otlp-message.js'
import { OtlpSender } from './otlp-sender.js'
import { SpanQueue } from './span-queue.js'
import { Tracer } from './tracer.js'

export interface OpenedTracer {
  readonly tracer: Tracer
  /** Sends what is left, and closes the connection. */
  close(): Promise<void>
}

export interface TracerParts {
  readonly clock: Clock
  readonly recorder: Recorder
  readonly logger: Logger
}

/** The name is kube-apiserver's: dashboards look for it. */
const SERVICE = 'apiserver'
const SCOPE = 'keelson'

export function openTracer(config: TracingConfig, { clock, recorder, logger }: TracerParts): OpenedTracer {
  const encoder = new OtlpEncoder({ 'service.name': SERVICE, 'service.instance.id': config.instanceId }, SCOPE)
  const sender = new OtlpSender(config.endpoint, clock)
  const counts = {
    sent: recorder.series(tracingFamilies.spans, 'sent'),
    dropped: recorder.series(tracingFamilies.spans, 'dropped'),
    failed: recorder.series(tracingFamilies.spans, 'failed'),
  }
  const queue = new SpanQueue({
    send: (spans, timeoutMs) => sender.send(encoder.encode(spans), timeoutMs),
    clock,
    random: Math.random,
    onOutcome: (outcome, spans) => counts[outcome].add(spans),
    onAway: (error) =>
      logger.warn({ err: error, endpoint: config.endpoint }, 'spans are lost: the collector does not take them'),
  })
  const tracer = new Tracer({
    samplingRate: config.samplingRatePerMillion / 1e6,
    times: clock,
    onSpan: queue.add,
  })
  return {
    tracer,
    close: async () => {
      await queue.stop()
      sender.close()
    },
  }
}

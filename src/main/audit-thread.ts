/** Thread: audit. The thread's entry: reads what front ends send, makes events of it, and writes them. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { readKubeconfig } from '../auth/kubeconfig.js'
import { WebhookClient } from '../auth/webhook-client.js'
import { assert } from '../lib/assert.js'
import { systemClock } from '../lib/clock.js'
import type { AuditReply, AuditRequest, AuditThreadStart } from '../protocol/main-audit.js'
import { PortLogger } from '../workers/owner/port-logger.js'
import { ThreadInspector } from '../workers/thread-inspector.js'
import { BackendQueue } from './audit/audit-backend.js'
import { AuditWriter } from './audit/audit-writer.js'
import { LogBackend } from './audit/log-backend.js'
import { LogFile } from './audit/log-file.js'
import { WebhookBackend } from './audit/webhook-backend.js'

assert(parentPort !== null, 'the audit thread is a thread')
const main = parentPort
const { log, webhook } = workerData as AuditThreadStart
new ThreadInspector('audit', systemClock).open((line, transfer) => main.postMessage(line, transfer))
const logger = new PortLogger((level, fields, message) => main.postMessage({ type: 'log', level, fields, message }))
const lost =
  (name: string) =>
  (events: number, why: unknown): void =>
    logger.error({ events, backend: name, err: why }, 'audit events were lost')

const queues: BackendQueue[] = []
if (log !== undefined) {
  const onError = (error: unknown): void => logger.warn({ err: error }, 'old audit logs could not be tidied up')
  const backend = new LogBackend(new LogFile({ ...log, clock: systemClock, onError }), log.format)
  queues.push(new BackendQueue({ backend, config: log, clock: systemClock, onLost: lost('log') }))
}
if (webhook !== undefined) {
  const client = new WebhookClient({
    kubeconfig: readKubeconfig(webhook.configFile),
    clock: systemClock,
    random: Math.random,
    firstPauseMs: webhook.initialBackoffMs,
    timeoutMs: 30_000,
  })
  const backend = new WebhookBackend(client)
  queues.push(new BackendQueue({ backend, config: webhook, clock: systemClock, onLost: lost('webhook') }))
}
const writer = new AuditWriter(queues, logger)
// Our timers do not keep a thread alive; the port does, until main closes it.
main.on('message', (message: { type: 'line'; port: MessagePort } | { type: 'close' }) => {
  if (message.type === 'line') {
    const { port } = message
    port.on(
      'message',
      (request: AuditRequest) => void writer.take(request, (reply: AuditReply) => port.postMessage(reply)),
    )
    return
  }
  void writer.close().then(() => {
    main.postMessage({ type: 'closed' })
    main.close()
  })
})

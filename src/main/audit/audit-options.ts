/** Thread: main. The flags of audit, and the configuration that they make. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { readKubeconfig } from '../../auth/kubeconfig.js'
import type { AuditBatchConfig, AuditLogConfig, AuditWebhookConfig } from '../../protocol/main-audit.js'
import { fileProblem, folderProblem } from '../flags/file-checks.js'
import { flagBoolean, flagDurationMs, flagNumber, flagText } from '../flags/flag-values.js'
import { type Flag, type FlagValues, flagsOf } from '../flags/flags.js'
import { type AuditPolicyDocument, parseAuditPolicy } from './audit-policy.js'

/** The path of a log that stands for standard output. */
const STANDARD_OUTPUT = '-'
const AUDIT_VERSION = 'audit.k8s.io/v1'
const MODES = ['batch', 'blocking', 'blocking-strict']

const flag = flagsOf('Audit')

/**
 * The flags of one backend. `maxSize` and `throttle` differ: a file takes events one by one, a webhook in batches that
 * must not follow too closely.
 */
function backendFlags(kind: 'log' | 'webhook', maxSize: string, throttle: string): Flag[] {
  const name = (rest: string): string => `audit-${kind}-${rest}`
  return [
    flag(
      name('mode'),
      'string',
      'batch',
      'batch: requests never wait; blocking: they wait until written; blocking-strict: and fail when it cannot be.',
    ),
    flag(name('batch-buffer-size'), 'integer', '10000', 'Events that may wait; more are dropped and counted.'),
    flag(name('batch-max-size'), 'integer', maxSize, 'Events of one batch.'),
    flag(name('batch-max-wait'), 'duration', '30s', 'How long a batch waits to fill up.'),
    flag(name('batch-throttle-enable'), 'boolean', throttle, 'Whether batches are kept apart.'),
    flag(name('batch-throttle-qps'), 'integer', '10', 'Batches a second.'),
    flag(name('batch-throttle-burst'), 'integer', '15', 'Batches at once after a pause.'),
    flag(name('version'), 'string', AUDIT_VERSION, `The form of events: there is only ${AUDIT_VERSION}.`),
    flag(name('truncate-enabled'), 'boolean', 'false', 'Whether large events lose their bodies.'),
    flag(name('truncate-max-event-size'), 'integer', '102400', 'Bytes of an event.'),
    flag(name('truncate-max-batch-size'), 'integer', '10485760', 'Bytes of a batch.'),
  ]
}

export const AUDIT_FLAGS: readonly Flag[] = [
  flag('audit-policy-file', 'string', '', 'The audit policy; without it nothing is recorded.'),
  flag('audit-log-path', 'string', '', 'The file that events are written to; - is standard output.'),
  flag('audit-log-format', 'string', 'json', 'json or legacy.'),
  flag('audit-log-maxsize', 'integer', '100', 'Megabytes of a file before it is rotated; 0: never.'),
  flag('audit-log-maxage', 'integer', '366', 'Days that rotated files are kept; 0: whatever their age.'),
  flag('audit-log-maxbackup', 'integer', '100', 'Rotated files that are kept; 0: all.'),
  flag('audit-log-compress', 'boolean', 'false', 'Whether rotated files are compressed with gzip.'),
  ...backendFlags('log', '1', 'false'),
  flag('audit-webhook-config-file', 'string', '', 'The kubeconfig of the webhook that events are sent to.'),
  flag('audit-webhook-initial-backoff', 'duration', '10s', 'How long to wait before a failed batch is sent again.'),
  ...backendFlags('webhook', '400', 'true'),
]

/** The configuration of audit: plain data, of which front-end threads and the audit thread are built. */
export interface AuditConfig {
  readonly policy: AuditPolicyDocument
  readonly log: AuditLogConfig | undefined
  readonly webhook: AuditWebhookConfig | undefined
}

function batchConfig(values: FlagValues, kind: 'log' | 'webhook'): AuditBatchConfig {
  const number = (rest: string): number => flagNumber(values, `audit-${kind}-${rest}`)
  return {
    mode: flagText(values, `audit-${kind}-mode`) as AuditBatchConfig['mode'],
    bufferSize: number('batch-buffer-size'),
    maxSize: number('batch-max-size'),
    maxWaitMs: flagDurationMs(values, `audit-${kind}-batch-max-wait`),
    throttle: flagBoolean(values, `audit-${kind}-batch-throttle-enable`),
    throttleQps: number('batch-throttle-qps'),
    throttleBurst: number('batch-throttle-burst'),
    truncate: flagBoolean(values, `audit-${kind}-truncate-enabled`),
    maxEventBytes: number('truncate-max-event-size'),
    maxBatchBytes: number('truncate-max-batch-size'),
  }
}

/** Undefined when there is no policy, or no place to write events to. */
export function auditConfig(values: FlagValues): AuditConfig | undefined {
  const file = flagText(values, 'audit-policy-file')
  const logPath = flagText(values, 'audit-log-path')
  const configFile = flagText(values, 'audit-webhook-config-file')
  if (file === '' || (logPath === '' && configFile === '')) return undefined
  const parsed = parseAuditPolicy(readFileSync(file, 'utf8'))
  if ('errors' in parsed) return undefined
  return {
    policy: parsed.policy,
    log:
      logPath === ''
        ? undefined
        : {
            ...batchConfig(values, 'log'),
            path: logPath,
            format: flagText(values, 'audit-log-format') as AuditLogConfig['format'],
            maxSizeMb: flagNumber(values, 'audit-log-maxsize'),
            maxAgeDays: flagNumber(values, 'audit-log-maxage'),
            maxBackups: flagNumber(values, 'audit-log-maxbackup'),
            compress: flagBoolean(values, 'audit-log-compress'),
          },
    webhook:
      configFile === ''
        ? undefined
        : {
            ...batchConfig(values, 'webhook'),
            configFile,
            initialBackoffMs: flagDurationMs(values, 'audit-webhook-initial-backoff'),
          },
  }
}

export function auditErrors(values: FlagValues): string[] {
  const errors: string[] = []
  const file = flagText(values, 'audit-policy-file')
  const attempt = (name: string, work: () => void): void => {
    try {
      work()
    } catch (error) {
      errors.push(`--${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  if (file !== '')
    attempt('audit-policy-file', () => {
      const problem = fileProblem(file)
      if (problem !== undefined) throw new Error(problem)
      const parsed = parseAuditPolicy(readFileSync(file, 'utf8'))
      if ('errors' in parsed) errors.push(...parsed.errors.map((error) => `--audit-policy-file: ${file}: ${error}`))
    })
  const configFile = flagText(values, 'audit-webhook-config-file')
  if (configFile !== '')
    attempt('audit-webhook-config-file', () => {
      const problem = fileProblem(configFile)
      if (problem !== undefined) throw new Error(problem)
      readKubeconfig(configFile)
    })
  const logPath = flagText(values, 'audit-log-path')
  const folder = logPath === '' || logPath === STANDARD_OUTPUT ? undefined : folderProblem(path.dirname(logPath))
  if (folder !== undefined) errors.push(`--audit-log-path: ${folder}`)
  if (!['json', 'legacy'].includes(flagText(values, 'audit-log-format')))
    errors.push('--audit-log-format must be json or legacy')
  for (const kind of ['log', 'webhook'] as const) {
    const mode = flagText(values, `audit-${kind}-mode`)
    if (flagText(values, `audit-${kind}-version`) !== AUDIT_VERSION)
      errors.push(`--audit-${kind}-version must be ${AUDIT_VERSION}`)
    if (!MODES.includes(mode)) errors.push(`--audit-${kind}-mode must be one of ${MODES.join(', ')}`)
    for (const rest of ['batch-buffer-size', 'batch-max-size', 'batch-throttle-qps', 'batch-throttle-burst']) {
      const name = `audit-${kind}-${rest}`
      if (flagNumber(values, name) < 1) errors.push(`--${name} must be at least 1`)
    }
    const eventBytes = flagNumber(values, `audit-${kind}-truncate-max-event-size`)
    if (eventBytes < 1) errors.push(`--audit-${kind}-truncate-max-event-size must be at least 1`)
    if (flagNumber(values, `audit-${kind}-truncate-max-batch-size`) < 1)
      errors.push(`--audit-${kind}-truncate-max-batch-size must be at least 1`)
    if (
      flagBoolean(values, `audit-${kind}-truncate-enabled`) &&
      eventBytes > flagNumber(values, `audit-${kind}-truncate-max-batch-size`)
    )
      errors.push(
        `--audit-${kind}-truncate-max-event-size must not be greater than --audit-${kind}-truncate-max-batch-size`,
      )
  }
  for (const name of ['audit-log-maxsize', 'audit-log-maxage', 'audit-log-maxbackup'])
    if (flagNumber(values, name) < 0) errors.push(`--${name} must not be negative`)
  return errors
}

/**
 * Thread: any. The whole contract between a front end and the audit thread, over a port of their own. A front end sends
 * what happened as plain data, with bodies as the bytes that they were; the audit thread makes events of it, writes them,
 * and says so. What is not said to be written yet counts against the front end's buffer.
 */

export interface AuditUser {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface AuditObjectReference {
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
  readonly apiGroup?: string
  readonly apiVersion?: string
  readonly subresource?: string
}

export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse'
export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic'

/** audit.k8s.io/v1 Event, but for its bodies. Keys in the order in which they are written. */
export interface AuditEvent {
  readonly kind: 'Event'
  readonly apiVersion: 'audit.k8s.io/v1'
  readonly level: AuditLevel
  readonly auditID: string
  readonly stage: AuditStage
  readonly requestURI: string
  readonly verb: string
  readonly user: AuditUser
  readonly impersonatedUser?: AuditUser
  readonly sourceIPs?: readonly string[]
  readonly userAgent?: string
  readonly objectRef?: AuditObjectReference
  readonly responseStatus?: Readonly<Record<string, unknown>>
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
  readonly annotations?: Readonly<Record<string, string>>
}

export interface AuditBody {
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly gzip: boolean
}

export interface AuditItem {
  readonly event: AuditEvent
  readonly requestBody?: AuditBody
  readonly responseBody?: AuditBody
  /** Set when the body of a failure must be read for its status. */
  readonly statusBody?: AuditBody
  readonly omitManagedFields: boolean
}

export type AuditRequest =
  /** Answered in order by `written`. */
  { readonly type: 'items'; readonly items: readonly AuditItem[] } | { readonly type: 'close' }

export type AuditReply =
  | { readonly type: 'written'; readonly items: number; readonly failed: number }
  /** Everything is out; the port is of no more use. */
  | { readonly type: 'closed' }

/** What the thread starts with. */
export interface AuditThreadStart {
  readonly log: AuditLogConfig | undefined
  readonly webhook: AuditWebhookConfig | undefined
}

export interface AuditBatchConfig {
  readonly mode: 'batch' | 'blocking' | 'blocking-strict'
  readonly bufferSize: number
  readonly maxSize: number
  readonly maxWaitMs: number
  readonly throttle: boolean
  readonly throttleQps: number
  readonly throttleBurst: number
  readonly truncate: boolean
  readonly maxEventBytes: number
  readonly maxBatchBytes: number
}

export interface AuditLogConfig extends AuditBatchConfig {
  /** `-`: standard output. */
  readonly path: string
  readonly format: 'json' | 'legacy'
  readonly maxSizeMb: number
  readonly maxAgeDays: number
  readonly maxBackups: number
  readonly compress: boolean
}

export interface AuditWebhookConfig extends AuditBatchConfig {
  readonly configFile: string
  readonly initialBackoffMs: number
}

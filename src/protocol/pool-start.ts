/** Thread: any. What a pool thread is started with, and what it says first. */
import type { MessagePort } from 'node:worker_threads'
import type { JsonObject } from '../api/object.js'
import type { ResourceDefinition } from '../api/resource-definition.js'
import type { EgressConfig } from '../lib/egress/egress-config.js'
import type { EtcdOptions } from '../storage/factory/factory-options.js'
import type { AuthorizationConfig } from './authorization-config.js'
import type { MetricsLine } from './metrics-line.js'
import type { PoolLineOffer } from './pool-line.js'
import type { AuthenticationConfig } from './server-credentials.js'
import type { InspectionLine } from './thread-inspection.js'
import type { TracingConfig } from './tracing-config.js'
import type { WebhookUsers } from './webhook-users.js'

export interface ConnectionConfig {
  /** The first kind of address that a node has is the one: Hostname, InternalDNS, InternalIP, … */
  readonly preferredAddressTypes: readonly string[]
  /** Of nodes that do not say theirs. */
  readonly kubeletPort: number
}

/** Sent by a pool thread when it starts: main answers on the port with a line to the owner (OwnerLine). */
export interface AttachMessage {
  readonly type: 'attach'
  readonly port: MessagePort
}

export type PoolThreadMessage = AttachMessage | PoolLineOffer | MetricsLine | InspectionLine

export interface OwnerLine {
  readonly port: MessagePort
  /** Speaks resource-change.ts. */
  readonly changes: MessagePort
  /** The defined resources as they are when the thread starts. */
  readonly definitions: readonly ResourceDefinition[]
}

/** What services are given; valid texts. */
export interface ServiceNetwork {
  /** One or two CIDRs, of different families. */
  readonly clusterIPRanges: readonly string[]
  /** 30000-32767 */
  readonly nodePortRange: string
}

export interface TolerationSeconds {
  readonly notReady: number
  readonly unreachable: number
}

/** Which admission plugins run, and what --admission-control-config-file says to them. */
export interface AdmissionStart {
  readonly enable: readonly string[]
  readonly disable: readonly string[]
  /** How long pods stay on nodes that are not well, unless they say otherwise. */
  readonly tolerationSeconds: TolerationSeconds
  /** By name of the plugin. */
  readonly config: Readonly<Record<string, JsonObject>>
  /** With what this server authenticates to webhooks. */
  readonly webhookUsers: { readonly mutating: WebhookUsers; readonly validating: WebhookUsers }
  /** Whether this server runs the controller that makes the account `default` in every namespace. */
  readonly makesAccounts: boolean
  /** Of the pool: what is counted in each thread is shared out among so many. */
  readonly threads: number
}

export interface PoolStart {
  readonly admission: AdmissionStart
  readonly etcdOptions: EtcdOptions
  /** How webhooks are reached. */
  readonly egress: EgressConfig
  readonly runtimeConfig: readonly string[]
  readonly serviceNetwork: ServiceNetwork
  readonly eventTtlSeconds: number
  readonly allowPrivileged: boolean
  readonly logLevel: string
  readonly authorization: AuthorizationConfig
  /** How kubelets are found. */
  readonly connection: ConnectionConfig
  readonly authentication: AuthenticationConfig
  /** Undefined when nothing is traced. */
  readonly tracing: TracingConfig | undefined
}

/** With what main alone gives to a thread. */
export interface PoolThreadData extends PoolStart {
  /** The flags of SlottedTask. */
  readonly cancelFlags: SharedArrayBuffer
  /** Of StageTimes. */
  readonly stageTimes: SharedArrayBuffer
  /** A PoolPulse. */
  readonly pulse: SharedArrayBuffer
}

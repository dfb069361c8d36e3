/**
 * Thread: any. The whole contract between the process's main thread and the controllers thread. Both sides call and answer in
 * the words of main-front-end.ts (CallMessage).
 *
 * The thread reads shared memory by itself, over a line of its own to the owner. What it asks main for is the pool, through
 * which it writes.
 */
import type { MessagePort } from 'node:worker_threads'
import type { ResourceDefinition } from '../api/resource-definition.js'
import type { UserInfo } from '../api/user-info.js'
import type { PoolResult, PoolTask, PoolTaskName } from './main-pool.js'
import type { ResourceChange } from './resource-change.js'

/** What controllers have to know of the server, besides what the API tells. */
export interface ControllerSettings {
  /** The names of the controllers that run. */
  readonly enabled: readonly string[]
  /** Who holds the lease, as long as it is this server. */
  readonly identity: string
  /** The authorities that this server's certificate is verified by (PEM); '' when it serves without TLS. */
  readonly rootCa: string
  /** What approved certificate requests are signed with. */
  readonly signing: {
    /** The files of each signer's authority; signers without one sign nothing. */
    readonly authorities: Readonly<Record<string, { readonly certFile: string; readonly keyFile: string }>>
    /** How long a certificate lasts at most. */
    readonly lifeMs: number
  }
  /** So many pods that have ended may stay; 0: any number. */
  readonly terminatedPodThreshold: number
}

/** `C` is the completed configuration: plain data, known to both sides. */
export interface ControllersStart<C> {
  readonly config: C
  readonly settings: ControllerSettings
  /** To the owner: CacheClient.attach() takes it. Transferred. */
  readonly ownerPort: MessagePort
  /** The defined resources as they are when the thread starts. */
  readonly definitions: readonly ResourceDefinition[]
}

/** A resource that an extension API server serves. */
export interface RemoteResource {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

/** What extension API servers serve, as they say it now. */
export interface RemoteReport {
  readonly resources: readonly RemoteResource[]
  /** The versions whose servers did not say, and why. */
  readonly failures: readonly { readonly groupVersion: string; readonly why: string }[]
}

/** A request to the extension API server of a version, in the name of a user whose right to it was checked. */
export interface RemoteCall {
  readonly group: string
  readonly version: string
  readonly method: 'GET' | 'DELETE'
  readonly path: string
  readonly user: UserInfo
  /** JSON; '' for none. */
  readonly body: string
}

export interface RemoteAnswer {
  readonly status: number
  readonly body: Uint8Array
}

/** What the thread asks main for. */
export type ControllersMainCalls = {
  /** Bodies are transferred in both directions. */
  pool: (task: PoolTask) => PoolResult<PoolTaskName>
  remoteResources: (input: Record<string, never>) => RemoteReport
  /** Fails when the server cannot be reached. */
  remote: (call: RemoteCall) => RemoteAnswer
}

/** Of one controller: '' when it is well, else what it failed with last. */
export type ControllerHealth = Readonly<Record<string, string>>

/** What main asks the thread for. */
export type ControllersCalls = {
  /** A defined resource came, changed or went; replies when controllers see it. */
  change: (change: ResourceChange) => undefined
  health: (input: Record<string, never>) => ControllerHealth
  /** Controllers stop, the lease is given up, and the thread ends after its reply. */
  close: (input: Record<string, never>) => undefined
}

/**
 * Thread: any. The whole contract between the process and its owner thread. The owner is started with a configuration
 * and says `started` or `failed`; then it answers calls, and tells what happens.
 *
 * The owner's death is the process's: nothing can be written, and what is in memory gets older. Main exits when the thread
 * ends without having been asked to, and whatever supervises the process starts it again; the embedded engine and etcd
 * have all that was acknowledged.
 */
import type { MessagePort } from 'node:worker_threads'
import type { ResourceDefinition } from '../api/resource-definition.js'
import type { StorageConfig } from '../storage/factory/storage-config.js'
import type { ErrorRecord } from './error-record.js'
import type { MetricsLine } from './metrics-line.js'
import type { InspectionLine } from './thread-inspection.js'

export interface OwnerResource {
  /** As clients know it: `pods`, `deployments.apps`. */
  readonly resource: string
  /** Below the storage prefix: `/pods`. */
  readonly resourcePrefix: string
  /** The place of its cluster in the configuration. */
  readonly cluster: number
  /** No limit of memory applies to it: whoever decides by it has nowhere else to look. */
  readonly unlimited?: boolean
  /** Of one that is not built in. */
  readonly definition?: ResourceDefinition
}

export interface OwnerConfig {
  /** One for each set of servers; the first is the default one. */
  readonly clusters: readonly StorageConfig[]
  readonly resources: readonly OwnerResource[]
  /** Of each resource; 0: no limit. */
  readonly cacheMemoryLimitBytes: number
  /** The URL of the module that understands the resources' objects: OwnerResourceModule. */
  readonly resourceModule: string
  /** Handed to that module as it is. */
  readonly resourceModuleOptions?: unknown
  /**
   * The URL of the entry of threads that decode objects beside the owner (owner-drafts.ts), with the same options; without it the owner
   * decodes all of them itself.
   */
  readonly draftModule?: string
}

/** What an arena's memory is used for. */
export interface MemoryReport {
  readonly segmentBytes: number
  readonly usedBytes: number
  readonly freeBytes: number
  /** Bytes that were replaced and cannot be freed before a pin goes. */
  readonly pinnedBytes: number
  /** Bytes that are kept for the window only: older states and events. */
  readonly windowBytes: number
  readonly objects: number
  /** Events in the window. */
  readonly events: number
  /** Events that the window has room for. */
  readonly capacity: number
}

/**
 * What the used bytes of an arena are, beside its window and what is pinned. To tell it, every object is looked at; so it is told to
 * whoever looks into the server, and not at every scrape.
 */
export interface ArenaCosts {
  readonly segments: number
  /** The JSON of the objects. */
  readonly bodyBytes: number
  /** Their keys, labels, fields and headers, and what their blocks are larger than they. */
  readonly headBytes: number
  /** The pages of the newest index. */
  readonly indexBytes: number
  readonly ringBytes: number
  /** What every arena takes: words that it is steered by, pins of readers, ends of segments. */
  readonly controlBytes: number
}

/** What the embedded engine's file holds. */
export interface StoreCosts {
  readonly fileBytes: number
  /** Bytes of the file in pages that nothing uses: later writes take them, the file does not shrink. */
  readonly freeBytes: number
  /** By name; the log holds the values, of history too. */
  readonly tables: Readonly<Record<string, { readonly entries: number; readonly bytes: number }>>
  /** Entries of the log that are no object's newest state. */
  readonly historyEntries: number
  /** History up to here is gone for callers, and has been taken out of the file up to there. */
  readonly compactedRevision: number
  readonly prunedRevision: number
}

export interface ClusterCosts {
  /** Drafts of objects that this process is writing to etcd, kept until the watch brings them. */
  readonly handedBytes: number
  /** Undefined on etcd. */
  readonly store?: StoreCosts
}

export interface CacheCosts {
  readonly resources: Readonly<Record<string, ResourceMemory & ArenaCosts>>
  readonly clusters: readonly ClusterCosts[]
}

export interface ResourceMemory extends MemoryReport {
  /** Everything up to this revision is in memory. */
  readonly revision: number
}

export interface ResourceHealth {
  readonly state: 'filling' | 'ready' | 'fallen' | 'closed'
  /** Why it is read from its storage. */
  readonly reason?: 'corrupt-object' | 'key-service' | 'memory-limit'
}

/** Who asks for the storage's health: it may take a time of its own to answer each. */
export type HealthProbe = 'health' | 'ready'

export interface OwnerHealth {
  readonly clusters: readonly {
    /** Whether memory follows the store. */
    readonly following: boolean
    readonly revision: number
    /** Why the store does not answer. */
    readonly storeError?: string
    /** Why the embedded engine takes no writes: its disk is full, or a commit failed. */
    readonly writeError?: string
    /** Whether only a restart helps. */
    readonly writesEnded?: boolean
  }[]
  readonly resources: Readonly<Record<string, ResourceHealth>>
}

export type OwnerControl = {
  /** Attaches the thread at the other end of the port, which speaks reader-owner.ts. */
  attach: (input: { port: MessagePort }) => undefined
  /** Replies when it is ready or has fallen back to its storage. */
  addResource: (input: OwnerResource) => undefined
  removeResource: (input: { resource: string }) => undefined
  health: (input: { readonly probe: HealthProbe }) => OwnerHealth
  memory: (input: Record<string, never>) => Readonly<Record<string, ResourceMemory>>
  costs: (input: Record<string, never>) => CacheCosts
  /** In order: readers, cache, storage. The thread ends after its reply. */
  stop: (input: Record<string, never>) => undefined
}

export type OwnerControlMethod = keyof OwnerControl
export type OwnerControlInput<K extends OwnerControlMethod> = Parameters<OwnerControl[K]>[0]
export type OwnerControlResult<K extends OwnerControlMethod> = ReturnType<OwnerControl[K]>
export type OwnerControlHandlers = {
  [K in OwnerControlMethod]: (input: OwnerControlInput<K>) => Promise<OwnerControlResult<K>>
}
export type OwnerControlCall = {
  [K in OwnerControlMethod]: { readonly id: number; readonly method: K; readonly input: OwnerControlInput<K> }
}[OwnerControlMethod]

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** What the owner tells without being asked; metrics are made of it. */
export type OwnerEvent =
  | { readonly type: 'resource-state'; readonly resource: string; readonly health: ResourceHealth }
  /** -1 is unknown; undefined: not counted any more. */
  | { readonly type: 'count'; readonly resource: string; readonly objects: number; readonly bytes: number }
  | { readonly type: 'count-gone'; readonly resource: string }
  | { readonly type: 'db-size'; readonly cluster: number; readonly endpoint: string; readonly bytes: number }

export type OwnerToMain =
  | MetricsLine
  | InspectionLine
  | { readonly type: 'started' }
  | { readonly type: 'failed'; readonly error: ErrorRecord }
  | { readonly type: 'reply'; readonly id: number; readonly result: OwnerControlResult<OwnerControlMethod> }
  | { readonly type: 'error'; readonly id: number; readonly error: ErrorRecord }
  | { readonly type: 'event'; readonly event: OwnerEvent }
  | { readonly type: 'log'; readonly level: LogLevel; readonly fields: object; readonly message: string }

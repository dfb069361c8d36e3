/** Thread: any. The whole contract between the front end and the pool: bytes in, bytes out, one crossing each way. */
import type { MessagePort } from 'node:worker_threads'
import type { RequestInfo } from '../api/request-info.js'
import type { ResourceDefinition } from '../api/resource-definition.js'
import type { Status } from '../api/status.js'
import type { TraceContext } from '../api/trace-context.js'
import type { UserInfo } from '../api/user-info.js'

/** A request as far as the front end has understood it; the body is untouched. */
export interface PoolRequest {
  readonly info: RequestInfo
  /** Upper case. */
  readonly method: string
  /** Without the question mark, still encoded. */
  readonly query: string
  readonly user: UserInfo
  readonly accept: string
  readonly contentType: string
  readonly userAgent: string
  /** Empty when there is none. Transferred. */
  readonly body: Uint8Array
  readonly auditId: string
  /** The span that the work is a part of; absent for a request that is not recorded. */
  readonly trace?: TraceContext
  /** Wall time in milliseconds after which nobody waits for the answer any longer: what is under way then stops. */
  readonly deadlineMs: number
}

export interface EncodedResponse {
  readonly status: number
  readonly contentType: string
  /** Texts for Warning headers, each once. */
  readonly warnings: readonly string[]
  /** Further headers: name, value, … */
  readonly headers: readonly string[]
  readonly body: Uint8Array
  /** For the audit log: what admission noted. Most requests have none. */
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

/**
 * What is made of an object. `bare`: a Table without its columns, which a watch shows in its first event only; `row`: of a
 * Table, its row alone; `yaml`: the object in YAML.
 */
export type ConversionShape = 'whole' | 'bare' | 'row' | 'yaml'

/** Objects in another form, in order. */
export interface Converted {
  readonly shown: readonly Uint8Array[]
  /** For so long each is true: ages change. Absent: for as long as the object is as it is. */
  readonly freshForMs?: readonly number[]
  /** Why none could be made: a webhook did not convert them. `shown` is empty then. */
  readonly refusal?: Status
}

/** Objects, of events or lists, to be shown in another form (Table, metadata only, protobuf, another version). */
export interface EventConversion {
  /** Which arena: the storage resource, `pods` or `deployments.apps`. */
  readonly resource: string
  /** The Accept header, word for word: the pool negotiates it again and comes to the same form. */
  readonly mediaType: string
  /** The version of the path. */
  readonly apiVersion: string
  /** What rows of a Table carry: None, Metadata, Object, or '' for the usual. */
  readonly include: string
  readonly shape: ConversionShape
  /** Bodies as they are in shared memory, copied. */
  readonly bodies: readonly Uint8Array[]
}

/** A watch that a pool thread follows in the storage: protocol/storage-watch.ts says what goes over the port. */
export interface StorageWatchRequest {
  readonly request: PoolRequest
  /** Transferred. */
  readonly port: MessagePort
}

/** What bringing the roles of the first start into storage came to. */
export interface AccessReport {
  readonly created: number
  readonly updated: number
  /** With an annotation that says so, and something missing. */
  readonly protected: readonly string[]
  readonly failed: readonly string[]
}

/**
 * Where a request goes that this server only passes on: to a kubelet (log, exec, attach, portforward, a node's proxy) or to
 * what runs in a pod or behind a service.
 */
export interface ConnectPlan {
  /** `log`: a stream of text; `upgrade`: a WebSocket or nothing; `proxy`: whatever the client asks. */
  readonly kind: 'log' | 'upgrade' | 'proxy'
  readonly scheme: 'http' | 'https'
  readonly host: string
  /** 0: the scheme's own. */
  readonly port: number
  /** With its query, encoded. Of a proxy: the prefix that the path of the request is put behind. */
  readonly path: string
  /** Who we are there and whom we believe: kubelets are authenticated, what runs in pods is not. */
  readonly trust: 'kubelet' | 'kubelet-unverified' | 'workload'
  /** The kubelet says that it speaks every WebSocket protocol that clients know. */
  readonly extendedWebSockets: boolean
}

export type ConnectAnswer = { readonly plan: ConnectPlan } | { readonly response: EncodedResponse }

export type PoolTasks = {
  /** POST, PUT, PATCH, DELETE, subresources: decode, default, admit, validate, store, encode. */
  write: (request: PoolRequest) => EncodedResponse
  /** GET and LIST in a form that shared memory does not hold; also documents that are made on demand. */
  read: (request: PoolRequest) => EncodedResponse
  /** A watch of what memory does not hold; undefined when it is open: the rest goes over its port. */
  watch: (watch: StorageWatchRequest) => EncodedResponse | undefined
  /** Requests that are passed on: where to, or why not. */
  connect: (request: PoolRequest) => ConnectAnswer
  /** Documents that are made when somebody asks: OpenAPI. The path is without its query. */
  document: (input: DocumentRequest) => DocumentResponse
  /** Reads roles and bindings, and writes those that should be there and are not. */
  bootstrapAccess: (input: Record<string, never>) => AccessReport
  /** Objects of events and lists in another form. */
  convert: (conversion: EventConversion) => Converted
  /** The columns of a resource's Tables, in JSON. */
  tableColumns: (input: { readonly resource: string; readonly apiVersion: string }) => Uint8Array
  /** Decides about a definition, writes its status when something changed, and gives it in small words. */
  settleDefinition: (input: { readonly name: string; readonly taken: NamesOfOthers }) => SettledDefinition
  /** Deletes the objects of a definition that is being deleted, then lets the definition go. */
  finalizeDefinition: (input: { readonly name: string }) => 'gone' | 'later'
  /** Addresses and node ports brought in line with the services. What one pass has seen, the next has to know. */
  repairServices: (input: { readonly leaks: PortLeakEntries }) => PortLeakEntries
  /** This server is there for so long; gives the addresses of all that are. */
  holdMasterLease: (input: { readonly ip: string; readonly ttlSeconds: number }) => string[]
  /** This server goes; gives the addresses of those that stay. */
  dropMasterLease: (input: { readonly ip: string }) => string[]
}

export interface DocumentRequest {
  readonly path: string
  readonly form: 'json' | 'protobuf'
  /** Of version 2: what other servers say, to be put into it. */
  readonly others?: readonly SwaggerSource[]
}

/** The document of OpenAPI version 2 of another server. */
export interface SwaggerSource {
  readonly etag: string
  /** `/apis/<group>/<version>/` of what that server serves. */
  readonly prefixes: readonly string[]
  /** JSON. */
  readonly body: Uint8Array
}

export interface DocumentResponse extends EncodedResponse {
  /** What is served here, as the thread that made the document knew it: the ETag of its index of version 3. */
  readonly index?: string
}

/** The names that the other definitions of a group have. */
export interface NamesOfOthers {
  readonly resources: readonly string[]
  readonly kinds: readonly string[]
}

export type SettledDefinition =
  | { readonly state: 'gone' }
  /** Somebody else has changed it meanwhile: it is looked at again. */
  | { readonly state: 'again' }
  | {
      readonly state: 'settled'
      /** What it takes from the others of its group. */
      readonly names: NamesOfOthers
      /** As threads are to know it; undefined for one that is not served. */
      readonly resource: ResourceDefinition | undefined
      /** The same for two states of a definition that no thread has to tell apart. */
      readonly key: string
      /** Whether it is being deleted and waits for its objects to be. */
      readonly finalizes: boolean
    }

/** Node ports that seem to belong to nobody, and how many passes more they are kept. */
export type PortLeakEntries = readonly (readonly [port: number, passes: number])[]

export type PoolTaskName = keyof PoolTasks
export type PoolTask = {
  [K in PoolTaskName]: { readonly type: K; readonly input: Parameters<PoolTasks[K]>[0] }
}[PoolTaskName]
export type PoolResult<K extends PoolTaskName> = ReturnType<PoolTasks[K]>

/**
 * A task as it goes to a thread. `slot` is a place in the array of flags (32 bits each) that main and all pool threads share.
 * Main sets it to 0 before the task goes and to 1 when its caller has gone; the thread only reads it, and stops before the next
 * thing that it would do. Until the task has ended the slot is no other's.
 */
export type SlottedTask = PoolTask & { readonly slot: number }
/** Of a task that nobody cancels. */
export const NO_SLOT = -1

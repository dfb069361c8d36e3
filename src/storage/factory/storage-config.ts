/** Thread: any. What it takes to open the storage of a resource. */
import type { GroupResource, GroupVersion } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import type { Codec } from '../contract/interface.js'
import type { Transformer } from '../contract/transformer.js'

/** In place of a folder: what is stored is gone with the process. */
export const IN_MEMORY = 'memory'

export type StorageType = 'etcd3' | 'embedded'

/** Equal transports mean equal servers: what is opened for one serves for all. */
export interface TransportConfig {
  /** Of one etcd cluster; empty for the embedded engine. */
  readonly servers: readonly string[]
  readonly keyFile: string
  readonly certFile: string
  readonly trustedCaFile: string
}

/** The same for all resources, but for what an override changes. */
export interface StorageConfig {
  readonly type: StorageType
  /** Of all keys; `/registry`. */
  readonly prefix: string
  readonly transport: TransportConfig
  /** Of the embedded engine. */
  /** Of the embedded engine; IN_MEMORY: nowhere. */
  readonly dataDir: string
  /** 0: never. */
  readonly compactionIntervalMs: number
  /** 0: never. */
  readonly countMetricPollPeriodMs: number
  /** 0: never. */
  readonly dbMetricPollIntervalMs: number
  readonly healthcheckTimeoutMs: number
  readonly readycheckTimeoutMs: number
  readonly leaseReuseDurationSeconds: number
}

export type MediaType = 'application/json' | 'application/yaml' | 'application/vnd.kubernetes.protobuf'

/** How a resource is stored when it is not "under its plural name, in the preferred version of its group, as the flag says". */
export interface ResourceStorage {
  /** Below the storage prefix: `services/specs`. */
  readonly prefix?: string
  /** Not the preferred version of the group: it lacks the kind, or a server one release older could not read it. */
  readonly version?: string
  /** Whatever --storage-media-type says. */
  readonly mediaType?: MediaType
  /** The names of one set of objects. The first whose group is enabled says where and how they are stored. */
  readonly cohabitating?: readonly GroupResource[]
}

export interface StorageException extends ResourceStorage {
  readonly groupResource: GroupResource
}

/** How the objects of a resource are written. What is read may be in any form and version that was ever written. */
export interface StorageCodecConfig {
  /** As it is served. */
  readonly groupResource: GroupResource
  readonly mediaType: MediaType
  /** Of another group than the resource's own when the two share their objects. */
  readonly storageVersion: GroupVersion
}

export interface StorageConfigForResource extends StorageConfig, StorageCodecConfig {
  readonly codec: Codec<KubeObject>
  readonly transformer: Transformer
}

/** The storage cannot be what the flags ask for. */
export class StorageConfigError extends Error {
  override readonly name = 'StorageConfigError'
  readonly code = 'storage-config'
}

/** '' is etcd3 where there are servers and the embedded engine where there are none. */
export function resolveStorageType(name: string, servers: readonly string[]): StorageType {
  switch (name) {
    case '':
      return servers.length > 0 ? 'etcd3' : 'embedded'
    case 'etcd3':
    case 'embedded':
      return name
    case 'etcd2':
      throw new StorageConfigError('etcd2 is no longer a supported storage backend')
    default:
      throw new StorageConfigError(`unknown storage type: ${name}`)
  }
}

/** Equal for transports that one connection can serve, in whatever order the servers are named. */
export function transportKey({ type, dataDir, transport }: StorageConfig): string {
  if (type === 'embedded') return JSON.stringify([type, dataDir])
  const { servers, keyFile, certFile, trustedCaFile } = transport
  return JSON.stringify([type, [...servers].sort(), keyFile, certFile, trustedCaFile])
}

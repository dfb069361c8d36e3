/** Thread: any. What it takes to open the storage of a resource. */
import type { GroupResource, GroupVersion } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import type { ConnectProxy } from '../../lib/egress/egress-config.js'
import type { Codec } from '../contract/interface.js'
import type { Transformer } from '../contract/transformer.js'

/** Stands in place of a folder: what is stored is gone with the process. */
export const IN_MEMORY = 'memory'

export type StorageType = 'etcd3' | 'embedded'

/** The way to the servers. Equal transports mean equal servers: a connection for one serves all. */
export interface TransportConfig {
  /** The servers of one etcd cluster; empty for the embedded engine. */
  readonly servers: readonly string[]
  readonly keyFile: string
  readonly certFile: string
  readonly trustedCaFile: string
  /** The proxy by way of which servers are reached; undefined: directly. The process has one. */
  readonly egress?: ConnectProxy | undefined
}

/** How storage is reached and kept: the same for all resources, but for what an override changes. */
export interface StorageConfig {
  readonly type: StorageType
  /** The prefix of all keys: `/registry`. */
  readonly prefix: string
  readonly transport: TransportConfig
  /** The folder of the embedded engine, or IN_MEMORY. */
  readonly dataDir: string
  /** How often history is compacted; 0 is never. */
  readonly compactionIntervalMs: number
  /** How often objects are counted; 0 is never. */
  readonly countMetricPollPeriodMs: number
  /** How often the size of the database is asked; 0 is never. */
  readonly dbMetricPollIntervalMs: number
  readonly healthcheckTimeoutMs: number
  readonly readycheckTimeoutMs: number
  readonly leaseReuseDurationSeconds: number
}

export type MediaType = 'application/json' | 'application/yaml' | 'application/vnd.kubernetes.protobuf'

/**
 * How a resource is stored when it is not "under its plural name, in the preferred version of its group, as the flag
 * says".
 */
export interface ResourceStorage {
  /** The prefix of the resource below the storage prefix: `services/specs`. */
  readonly prefix?: string
  /**
   * The storage version where it is not the preferred one of the group: that one lacks the kind, or a server one
   * release older could not read it.
   */
  readonly version?: string
  /** The stored form, whatever --storage-media-type says. */
  readonly mediaType?: MediaType
  /** The names of one set of objects. The first whose group is enabled says where and how they are stored. */
  readonly cohabitating?: readonly GroupResource[]
}

export interface StorageException extends ResourceStorage {
  readonly groupResource: GroupResource
}

/** How the objects of a resource are written. What is read may be in any form and version that was ever written. */
export interface StorageCodecConfig {
  /** The resource, under the name by which it is served. */
  readonly groupResource: GroupResource
  readonly mediaType: MediaType
  /** The version that is written; of another group than the resource's own when the two share their objects. */
  readonly storageVersion: GroupVersion
}

export interface StorageConfigForResource extends StorageConfig, StorageCodecConfig {
  readonly codec: Codec<KubeObject>
  readonly transformer: Transformer
}

/** The flags ask for a storage that cannot be. */
export class StorageConfigError extends Error {
  override readonly name = 'StorageConfigError'
  readonly code = 'storage-config'
}

/**
 * The storage that a name of --storage-backend stands for; '' is etcd3 where there are servers, and else the embedded
 * engine.
 */
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

/** The key of a transport: equal for those that one connection can serve, in whatever order the servers are named. */
export function transportKey({ type, dataDir, transport }: StorageConfig): string {
  if (type === 'embedded') return JSON.stringify([type, dataDir])
  const { servers, keyFile, certFile, trustedCaFile } = transport
  return JSON.stringify([type, [...servers].sort(), keyFile, certFile, trustedCaFile])
}

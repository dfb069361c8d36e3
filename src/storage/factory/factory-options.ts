/** Thread: any. The storage flags, their defaults and their rules. */
import type { ConnectProxy } from '../../lib/egress/egress-config.js'
import { DEFAULT_MEDIA_TYPE } from './factory-defaults.js'
import { checkServerUrl, parseEtcdServersOverride, parseWatchCacheSize } from './factory-overrides.js'
import {
  type MediaType,
  resolveStorageType,
  type StorageConfig,
  StorageConfigError,
  type StorageType,
} from './storage-config.js'

/** The storage flags, named after kube-apiserver's; those of the embedded engine are our own. */
export interface EtcdOptions {
  /** '', `etcd3` or `embedded`. */
  readonly storageBackend: string
  readonly dataDir: string
  readonly etcdServers: readonly string[]
  readonly etcdServersOverrides: readonly string[]
  readonly etcdPrefix: string
  readonly etcdKeyFile: string
  readonly etcdCertFile: string
  readonly etcdCaFile: string
  readonly storageMediaType: string
  readonly watchCache: boolean
  readonly watchCacheSizes: readonly string[]
  readonly deleteCollectionWorkers: number
  readonly enableGarbageCollector: boolean
  readonly encryptionProviderConfig: string
  readonly encryptionProviderConfigAutomaticReload: boolean
  readonly etcdCompactionIntervalMs: number
  readonly etcdCountMetricPollPeriodMs: number
  readonly etcdDbMetricPollIntervalMs: number
  readonly etcdHealthcheckTimeoutMs: number
  readonly etcdReadycheckTimeoutMs: number
  readonly leaseReuseDurationSeconds: number
  /** The proxy by way of which etcd is reached, by --egress-selector-config-file; undefined: directly. */
  readonly egress?: ConnectProxy | undefined
}

/** The defaults are kube-apiserver's, so that a set of flags means the same to both. */
export const DEFAULT_ETCD_OPTIONS: EtcdOptions = {
  storageBackend: '',
  dataDir: '',
  etcdServers: [],
  etcdServersOverrides: [],
  etcdPrefix: '/registry',
  etcdKeyFile: '',
  etcdCertFile: '',
  etcdCaFile: '',
  storageMediaType: DEFAULT_MEDIA_TYPE,
  watchCache: true,
  watchCacheSizes: [],
  deleteCollectionWorkers: 1,
  enableGarbageCollector: true,
  encryptionProviderConfig: '',
  encryptionProviderConfigAutomaticReload: false,
  etcdCompactionIntervalMs: 5 * 60_000,
  etcdCountMetricPollPeriodMs: 60_000,
  etcdDbMetricPollIntervalMs: 30_000,
  etcdHealthcheckTimeoutMs: 2_000,
  etcdReadycheckTimeoutMs: 2_000,
  leaseReuseDurationSeconds: 60,
}

const MEDIA_TYPES: readonly string[] = ['application/json', 'application/vnd.kubernetes.protobuf'] satisfies MediaType[]

/** Gives everything that is wrong with the options, not only the first problem. */
export function validateEtcdOptions(options: EtcdOptions): StorageConfigError[] {
  const errors: StorageConfigError[] = []
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof StorageConfigError)) throw error
      errors.push(error)
      return undefined
    }
  }
  const problem = (message: string): void => void errors.push(new StorageConfigError(message))

  const type = attempt(() => resolveStorageType(options.storageBackend, options.etcdServers))
  if (type !== undefined) validateBackend(type, options, problem)
  for (const server of options.etcdServers) attempt(() => checkServerUrl('--etcd-servers', server))
  for (const text of options.etcdServersOverrides) attempt(() => parseEtcdServersOverride(text))
  for (const text of options.watchCacheSizes) attempt(() => parseWatchCacheSize(text))
  if ((options.etcdKeyFile === '') !== (options.etcdCertFile === '')) {
    problem('--etcd-keyfile and --etcd-certfile must be given together')
  }
  if (options.encryptionProviderConfigAutomaticReload && options.encryptionProviderConfig === '') {
    problem('--encryption-provider-config-automatic-reload must be set with --encryption-provider-config')
  }
  if (options.storageMediaType !== '' && !MEDIA_TYPES.includes(options.storageMediaType)) {
    problem(`--storage-media-type ${JSON.stringify(options.storageMediaType)} is not one of ${MEDIA_TYPES.join(', ')}`)
  }
  validateNumbers(options, problem)
  return errors
}

function validateBackend(type: StorageType, options: EtcdOptions, problem: (message: string) => void): void {
  if (type === 'etcd3') {
    if (options.etcdServers.length === 0) problem('--etcd-servers must be specified')
    return
  }
  if (options.etcdServers.length > 0) problem('--storage-backend=embedded has no use for --etcd-servers')
  if (options.etcdServersOverrides.length > 0) problem('--etcd-servers-overrides needs --etcd-servers')
  if (options.dataDir === '') problem('--data-dir must be specified for the embedded storage')
}

function validateNumbers(options: EtcdOptions, problem: (message: string) => void): void {
  const workers = options.deleteCollectionWorkers
  if (!Number.isInteger(workers) || workers < 1)
    problem(`--delete-collection-workers must be 1 or more, not ${workers}`)
  const atLeast: [string, number, number][] = [
    ['--etcd-compaction-interval', options.etcdCompactionIntervalMs, 0],
    ['--etcd-count-metric-poll-period', options.etcdCountMetricPollPeriodMs, 0],
    ['--etcd-db-metric-poll-interval', options.etcdDbMetricPollIntervalMs, 0],
    ['--etcd-healthcheck-timeout', options.etcdHealthcheckTimeoutMs, 1],
    ['--etcd-readycheck-timeout', options.etcdReadycheckTimeoutMs, 1],
    ['--lease-reuse-duration-seconds', options.leaseReuseDurationSeconds, 0],
  ]
  for (const [flag, value, minimum] of atLeast) {
    if (value >= minimum) continue
    problem(minimum === 0 ? `${flag} must not be negative` : `${flag} must be positive`)
  }
}

/** The storage configuration of options that are valid. */
export function storageConfigOf(options: EtcdOptions): StorageConfig {
  return {
    type: resolveStorageType(options.storageBackend, options.etcdServers),
    prefix: options.etcdPrefix,
    transport: {
      servers: options.etcdServers,
      keyFile: options.etcdKeyFile,
      certFile: options.etcdCertFile,
      trustedCaFile: options.etcdCaFile,
      egress: options.egress,
    },
    dataDir: options.dataDir,
    compactionIntervalMs: options.etcdCompactionIntervalMs,
    countMetricPollPeriodMs: options.etcdCountMetricPollPeriodMs,
    dbMetricPollIntervalMs: options.etcdDbMetricPollIntervalMs,
    healthcheckTimeoutMs: options.etcdHealthcheckTimeoutMs,
    readycheckTimeoutMs: options.etcdReadycheckTimeoutMs,
    leaseReuseDurationSeconds: options.leaseReuseDurationSeconds,
  }
}

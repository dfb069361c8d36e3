/** Thread: main. The flags of the storage and of the watch cache over it, and what is wrong with their values. */
import { flagDurationMs, flagList, flagNumber, flagText } from './flag-values.js'
import type { Flag, FlagValues } from './flags.js'

const STORAGE = 'Storage'
const CACHE = 'Watch cache'

export const STORAGE_FLAGS: readonly Flag[] = [
  {
    name: 'storage-backend',
    type: 'string',
    default: '',
    group: STORAGE,
    help: 'etcd3 or embedded; without it etcd3 when --etcd-servers is given, else embedded.',
  },
  {
    name: 'data-dir',
    type: 'string',
    default: './data',
    group: STORAGE,
    help: 'Where the embedded engine keeps its files; "memory": nowhere, everything is gone with the process.',
  },
  {
    name: 'etcd-servers',
    type: 'list',
    default: '',
    group: STORAGE,
    help: 'Addresses of etcd, with scheme, separated by commas.',
  },
  {
    name: 'etcd-servers-overrides',
    type: 'list',
    default: '',
    group: STORAGE,
    help: 'Other servers for a resource: group/resource#server;server.',
  },
  { name: 'etcd-prefix', type: 'string', default: '/registry', group: STORAGE, help: 'The prefix of all keys.' },
  {
    name: 'etcd-cafile',
    type: 'string',
    default: '',
    group: STORAGE,
    help: 'The authority that signed etcd’s certificate.',
  },
  { name: 'etcd-certfile', type: 'string', default: '', group: STORAGE, help: 'The client certificate for etcd.' },
  {
    name: 'etcd-keyfile',
    type: 'string',
    default: '',
    group: STORAGE,
    help: 'The key of the client certificate for etcd.',
  },
  {
    name: 'etcd-compaction-interval',
    type: 'duration',
    default: '5m',
    group: STORAGE,
    help: 'How often history is compacted; 0 turns it off.',
  },
  {
    name: 'etcd-db-metric-poll-interval',
    type: 'duration',
    default: '30s',
    group: STORAGE,
    help: 'How often the size of the database is asked for.',
  },
  {
    name: 'etcd-count-metric-poll-period',
    type: 'duration',
    default: '1m',
    group: STORAGE,
    help: 'How often objects are counted for metrics; 0 turns it off.',
  },
  {
    name: 'etcd-healthcheck-timeout',
    type: 'duration',
    default: '2s',
    group: STORAGE,
    help: 'How long the storage may take to answer when /healthz or /livez asks.',
  },
  {
    name: 'etcd-readycheck-timeout',
    type: 'duration',
    default: '2s',
    group: STORAGE,
    help: 'How long the storage may take to answer when /readyz asks.',
  },
  {
    name: 'lease-reuse-duration-seconds',
    type: 'integer',
    default: '60',
    group: STORAGE,
    help: 'For how long objects that expire, such as events, share a lease: the most that they outlive their time.',
  },
  {
    name: 'storage-media-type',
    type: 'string',
    default: '',
    group: STORAGE,
    help: 'How objects are stored: application/vnd.kubernetes.protobuf (the default) or application/json. What is there already is read in either form.',
  },
  {
    name: 'delete-collection-workers',
    type: 'integer',
    default: '1',
    group: STORAGE,
    help: 'Deletions under way at once for a DELETE of a collection.',
  },
  {
    name: 'enable-garbage-collector',
    type: 'boolean',
    default: 'true',
    group: STORAGE,
    help: 'Whether deletions leave marks for the garbage collector.',
  },
  {
    name: 'encryption-provider-config',
    type: 'string',
    default: '',
    group: STORAGE,
    help: 'The EncryptionConfiguration file for secrets at rest.',
  },
  {
    name: 'encryption-provider-config-automatic-reload',
    type: 'boolean',
    default: 'false',
    group: STORAGE,
    help: 'Whether that file is read again when it changes.',
  },
  {
    name: 'watch-cache',
    type: 'boolean',
    default: 'true',
    group: CACHE,
    help: 'Whether resources are served from memory.',
  },
  {
    name: 'watch-cache-sizes',
    type: 'list',
    default: '',
    group: CACHE,
    help: 'resource[.group]#size; 0 turns the cache of a resource off.',
  },
  {
    name: 'cache-memory-limit',
    type: 'bytes',
    default: '1Gi',
    group: CACHE,
    help: 'How much memory one resource may take before it is served from storage; roles and their bindings always stay.',
  },
]

/** What runs again and again must leave time for anything else. */
const MIN_INTERVAL_MS = 1000
const INTERVALS = ['etcd-compaction-interval', 'etcd-db-metric-poll-interval', 'etcd-count-metric-poll-period']

export function storageErrors(values: FlagValues): string[] {
  const errors = INTERVALS.filter((name) => {
    const intervalMs = flagDurationMs(values, name)
    return intervalMs !== 0 && intervalMs < MIN_INTERVAL_MS
  }).map((name) => `--${name} must be 0, which turns it off, or at least 1s`)
  for (const name of ['etcd-healthcheck-timeout', 'etcd-readycheck-timeout'])
    if (flagDurationMs(values, name) < 1) errors.push(`--${name} must be at least 1ms`)
  if (flagNumber(values, 'lease-reuse-duration-seconds') < 0)
    errors.push('--lease-reuse-duration-seconds must not be negative')
  const backend = flagText(values, 'storage-backend')
  const servers = flagList(values, 'etcd-servers')
  if (backend === 'etcd2') errors.push('--storage-backend etcd2 is no longer supported')
  else if (!['', 'etcd3', 'embedded'].includes(backend))
    errors.push(`--storage-backend ${JSON.stringify(backend)} is unknown; it is etcd3 or embedded`)
  if (backend === 'etcd3' && servers.length === 0) errors.push('--storage-backend etcd3 needs --etcd-servers')
  if (backend === 'embedded' && servers.length > 0)
    errors.push('--etcd-servers is of no use with --storage-backend embedded')
  for (const server of servers) {
    if (!/^https?:\/\/[^/]+$/.test(server))
      errors.push(`--etcd-servers: ${JSON.stringify(server)} is not of the form http(s)://host:port`)
  }
  if (/[^\x21-\x7e]/.test(flagText(values, 'etcd-prefix')) || flagText(values, 'etcd-prefix').split('/').includes('..'))
    errors.push('--etcd-prefix must be a path of plain characters, without ".."')
  return errors
}

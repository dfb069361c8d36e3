import t from 'tap'
import {
  DEFAULT_ETCD_OPTIONS,
  type EtcdOptions,
  storageConfigOf,
  validateEtcdOptions,
} from '#keelson/storage/factory/factory-options.js'
import {
  parseEtcdServersOverride,
  parseWatchCacheSize,
  WatchCacheSizes,
} from '#keelson/storage/factory/factory-overrides.js'
import { resolveStorageType } from '#keelson/storage/factory/storage-config.js'

const ETCD: Partial<EtcdOptions> = { etcdServers: ['http://127.0.0.1:2379'] }
const EMBEDDED: Partial<EtcdOptions> = { dataDir: '/var/lib/keelson' }
const problems = (options: Partial<EtcdOptions>): string[] =>
  validateEtcdOptions({ ...DEFAULT_ETCD_OPTIONS, ...options }).map((e) => e.message)

t.test('the storage type follows from the servers unless it is named', async (t) => {
  t.equal(resolveStorageType('', ['http://a']), 'etcd3')
  t.equal(resolveStorageType('', []), 'embedded')
  t.equal(resolveStorageType('etcd3', ['http://a']), 'etcd3')
  t.equal(resolveStorageType('embedded', []), 'embedded')
  t.throws(() => resolveStorageType('etcd2', []), { message: 'etcd2 is no longer a supported storage backend' })
  t.throws(() => resolveStorageType('mysql', []), { message: 'unknown storage type: mysql' })
})

t.test('valid options have no errors, and give the configuration', async (t) => {
  t.same(problems(ETCD), [])
  t.same(problems(EMBEDDED), [])
  const config = storageConfigOf({ ...DEFAULT_ETCD_OPTIONS, ...ETCD })
  t.match(config, {
    type: 'etcd3',
    prefix: '/registry',
    compactionIntervalMs: 300_000,
    countMetricPollPeriodMs: 60_000,
    dbMetricPollIntervalMs: 30_000,
  })
  t.equal(storageConfigOf({ ...DEFAULT_ETCD_OPTIONS, ...EMBEDDED }).type, 'embedded')
})

t.test('each rule is told when it is broken', async (t) => {
  const broken: [Partial<EtcdOptions>, RegExp][] = [
    [{ storageBackend: 'etcd2' }, /no longer a supported/],
    [{ storageBackend: 'etcd4' }, /unknown storage type: etcd4/],
    [{ storageBackend: 'etcd3' }, /--etcd-servers must be specified/],
    [{ ...EMBEDDED, ...ETCD, storageBackend: 'embedded' }, /no use for --etcd-servers/],
    [{ ...EMBEDDED, etcdServersOverrides: ['/events#http://a'] }, /needs --etcd-servers/],
    [{}, /--data-dir must be specified/],
    [{ etcdServers: ['127.0.0.1:2379'] }, /"127\.0\.0\.1:2379" is not a URL/],
    [{ etcdServers: ['unix:///run/etcd'] }, /is not a URL such as/],
    [{ ...ETCD, etcdKeyFile: 'k' }, /given together/],
    [{ ...ETCD, etcdServersOverrides: ['events'] }, /"events" is not of the form/],
    [{ ...ETCD, watchCacheSizes: ['pods'] }, /"pods" is not of the form/],
    [{ ...ETCD, encryptionProviderConfigAutomaticReload: true }, /must be set with --encryption-provider-config/],
    [{ ...ETCD, storageMediaType: 'text/plain' }, /--storage-media-type "text\/plain" is not one of/],
    [{ ...ETCD, deleteCollectionWorkers: 0 }, /--delete-collection-workers must be 1 or more/],
    [{ ...ETCD, etcdCompactionIntervalMs: -1 }, /--etcd-compaction-interval must not be negative/],
    [{ ...ETCD, etcdCountMetricPollPeriodMs: -1 }, /--etcd-count-metric-poll-period must not be negative/],
    [{ ...ETCD, etcdDbMetricPollIntervalMs: -1 }, /--etcd-db-metric-poll-interval must not be negative/],
    [{ ...ETCD, etcdHealthcheckTimeoutMs: 0 }, /--etcd-healthcheck-timeout must be positive/],
    [{ ...ETCD, etcdReadycheckTimeoutMs: 0 }, /--etcd-readycheck-timeout must be positive/],
    [{ ...ETCD, leaseReuseDurationSeconds: -1 }, /--lease-reuse-duration-seconds must not be negative/],
  ]
  for (const [options, message] of broken) t.match(problems(options), [message], String(message))
})

t.test('all errors come at once', async (t) => {
  const found = problems({
    storageBackend: 'nope',
    etcdServersOverrides: ['x', '/events#http://ok', 'y'],
    watchCacheSizes: ['pods#-1'],
    storageMediaType: 'x',
    deleteCollectionWorkers: 1.5,
  })
  t.equal(found.length, 6)
})

t.test('server overrides: group/resource#server;server', async (t) => {
  t.same(parseEtcdServersOverride('apps/deployments#http://a:1;https://b:2'), {
    groupResource: { group: 'apps', resource: 'deployments' },
    servers: ['http://a:1', 'https://b:2'],
  })
  t.same(parseEtcdServersOverride('/events#http://a:1').groupResource, { group: '', resource: 'events' })
  for (const text of [
    '',
    '/events',
    'events#http://a',
    'a/b/c#http://a',
    '/events#',
    '/events#http://a;',
    '/e#http://a#x',
    '/#http://a',
  ]) {
    t.throws(
      () => parseEtcdServersOverride(text),
      { message: /is not of the form group\/resource#server;server/ },
      text,
    )
  }
  t.throws(() => parseEtcdServersOverride('/events#etcd:2379'), { message: /is not a URL/ })
})

t.test('watch cache sizes: resource.group#size, where 0 is no cache', async (t) => {
  t.same(parseWatchCacheSize('deployments.apps#100'), {
    groupResource: { group: 'apps', resource: 'deployments' },
    size: 100,
  })
  t.throws(() => parseWatchCacheSize('pods'), { message: /not of the form/ })
  t.throws(() => parseWatchCacheSize('pods#1#2'), { message: /not of the form/ })
  t.throws(() => parseWatchCacheSize('pods#many'), { message: /not a number/ })
  t.throws(() => parseWatchCacheSize('pods#-1'), { message: /negative/ })
  const cached = (flags: string[], group: string, resource: string) =>
    new WatchCacheSizes(flags).cached({ group, resource })
  t.equal(cached([], '', 'pods'), true)
  t.equal(cached([], '', 'events'), true)
  t.equal(cached(['events#0'], '', 'events'), false)
  t.equal(cached(['pods#0'], '', 'pods'), false)
  t.equal(cached(['deployments.apps#0'], '', 'deployments'), true)
})

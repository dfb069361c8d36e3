/** Thread: main. Builds the server in order and closes it in reverse. */
import { readFileSync } from 'node:fs'
import { KUBERNETES_VERSION } from '../api/catalogue.js'
import { DiscoveryDocuments } from '../api/discovery.js'
import type { UserInfo } from '../api/user-info.js'
import type { Authenticator } from '../auth/interface.js'
import { StaticTokens } from '../auth/static-tokens.js'
import { CacheClient } from '../cacher/cache-client.js'
import { systemClock } from '../lib/clock.js'
import { type Closable, Lifecycle } from '../lib/lifecycle.js'
import type { Logger } from '../lib/logger.js'
import { Metrics } from '../metrics/metrics.js'
import { OwnerClient } from '../workers/owner-client.js'
import type { Served } from '../workers/served.js'
import { openServed } from '../workers/served.js'
import { createSystemNamespaces } from './bootstrap.js'
import { ClientCacheView } from './cache-view.js'
import type { Config } from './config.js'
import { installDocuments } from './documents.js'
import type { Exchange } from './exchange.js'
import { FrontEnd, respondEncoded } from './front-end.js'
import { type HealthCheck, HealthEndpoint } from './health.js'
import { HttpServer } from './http-server.js'
import { Inflight } from './inflight.js'
import { NonResourcePaths } from './non-resource-paths.js'
import { Pool } from './pool.js'
import { ServedResource } from './served-resource.js'

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores'
/** What everybody is on a server without credentials, which listens on loopback only. */
const LOCAL_ADMIN: UserInfo = {
  name: 'system:admin',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
}

export interface Server extends Closable {
  readonly url: string
  close(): Promise<void>
}

export interface ComposeOptions {
  readonly config: Config
  readonly logger: Logger
  /** The process cannot go on. */
  readonly onFatal: (error: Error) => void
}

export async function compose({ config, logger, onFatal }: ComposeOptions): Promise<Server> {
  const lifecycle = new Lifecycle()
  try {
    return await build(lifecycle, { config, logger, onFatal })
  } catch (error) {
    await lifecycle.close()
    throw error
  }
}

async function build(lifecycle: Lifecycle, { config, logger, onFatal }: ComposeOptions): Promise<Server> {
  const served = openServed(config.etcdOptions)
  const metrics = new Metrics()
  metrics.start()
  const owner = await startOwner(config, served, metrics, logger, onFatal)
  lifecycle.own('owner', { close: () => owner.stop() })
  const pool = new Pool({
    threads: config.poolThreads,
    start: { etcdOptions: config.etcdOptions, logLevel: config.logLevel },
    attach: () => owner.attach(),
    onWorkerError: (error) => logger.error({ err: error }, 'a pool thread failed'),
  })
  lifecycle.own('pool', pool)
  const cache = await CacheClient.attach(await owner.attach())
  lifecycle.own('cache', { close: () => cache.detach() })
  const state = { ready: false }
  const paths = new NonResourcePaths()
  const frontEnd = new FrontEnd({
    cache: new ClientCacheView(cache),
    pool,
    clock: systemClock,
    random: Math.random,
    logger,
    nonResourcePaths: paths,
    gate: new Inflight(config.inflight),
    requestTimeoutMs: config.requestTimeoutMs,
    minRequestTimeoutSeconds: config.minRequestTimeoutSeconds,
    authenticator: authenticator(config),
  })
  frontEnd.serve(served.resources.map((resource) => new ServedResource(resource)))
  const http = new HttpServer({
    host: config.host,
    port: config.port,
    tls: config.tls,
    sharePort: false,
    onRequest: frontEnd.handle,
  })
  installPaths(paths, { served, metrics, owner, pool, state, http, config })
  await createSystemNamespaces(pool, systemClock, logger)
  await http.start()
  lifecycle.own('http', http)
  lifecycle.own('front end', {
    close: async () => {
      state.ready = false
      http.stopListening()
      await frontEnd.drain()
    },
  })
  state.ready = true
  return {
    url: `${config.tls === undefined ? 'http' : 'https'}://${config.host}:${http.port}`,
    close: () => lifecycle.close(),
  }
}

function startOwner(
  config: Config,
  served: Served,
  metrics: Metrics,
  logger: Logger,
  onFatal: (error: Error) => void,
): Promise<OwnerClient> {
  return OwnerClient.start({
    config: {
      clusters: served.clusters,
      resources: served.owned,
      cacheMemoryLimitBytes: config.cacheMemoryLimitBytes,
      resourceModule: new URL('../workers/owner-objects.js', import.meta.url).href,
      resourceModuleOptions: { etcdOptions: config.etcdOptions },
    },
    logger,
    onEvent: (event) => metrics.storage.observe(event),
    onExit: onFatal,
  })
}

function authenticator({ tokenFile }: Config): Authenticator {
  if (tokenFile === '') return { authenticate: () => ({ user: LOCAL_ADMIN }) }
  const tokens = StaticTokens.parse(readFileSync(tokenFile, 'utf8'))
  return {
    authenticate: ({ authorization }) => {
      const user = authorization.startsWith('Bearer ') ? tokens.find(authorization.slice(7).trim()) : undefined
      return user === undefined ? undefined : { user }
    },
  }
}

interface PathParts {
  readonly served: Served
  readonly metrics: Metrics
  readonly owner: OwnerClient
  readonly pool: Pool
  readonly state: { ready: boolean }
  readonly http: HttpServer
  readonly config: Config
}

function installPaths(paths: NonResourcePaths, { served, metrics, owner, pool, state, http, config }: PathParts): void {
  const { catalogue } = served
  const [major = '', minor = ''] = KUBERNETES_VERSION.slice(1).split('.')
  const version = {
    major,
    minor,
    gitVersion: `${KUBERNETES_VERSION}+keelson`,
    platform: `${process.platform}/${process.arch}`,
    goVersion: `node${process.version}`,
  }
  installDocuments(
    paths,
    new DiscoveryDocuments(catalogue),
    version,
    catalogue.groups(),
    () => `${config.host}:${http.port}`,
  )
  paths.exact('/metrics', async (exchange) => {
    metrics.storage.memory(await owner.memory())
    exchange.respond({ status: 200, contentType: METRICS_TYPE }, await metrics.text())
  })
  const openApi = async (exchange: Exchange, path: string): Promise<void> =>
    await respondEncoded(exchange, await pool.run('document', { path }))
  paths.exact('/openapi/v2', (exchange) => openApi(exchange, '/openapi/v2'))
  paths.exact('/openapi/v3', (exchange) => openApi(exchange, '/openapi/v3'))
  paths.below('/openapi/v3/', (exchange, _query, rest) => openApi(exchange, `/openapi/v3/${rest}`))
  const ping: HealthCheck = { name: 'ping', check: () => undefined }
  const etcd: HealthCheck = { name: 'etcd', check: () => storageHealth(owner) }
  const shutdown: HealthCheck = {
    name: 'shutdown',
    check: () => {
      if (!state.ready) throw new Error('the server is starting or stopping')
    },
  }
  new HealthEndpoint('/healthz', [ping, etcd]).install(paths)
  new HealthEndpoint('/livez', [ping, etcd]).install(paths)
  new HealthEndpoint('/readyz', [ping, etcd, shutdown]).install(paths)
}

async function storageHealth(owner: OwnerClient): Promise<void> {
  const { clusters } = await owner.health()
  const lost = clusters.findIndex((cluster) => !cluster.following)
  if (lost >= 0) throw new Error(`storage cluster ${lost} does not answer`)
}

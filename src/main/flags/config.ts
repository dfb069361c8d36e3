/** Thread: main. The completed configuration: made from valid flags here and nowhere else. */
import path from 'node:path'
import { ORDERED_PLUGINS } from '../../admission/plugin-names.js'
import { enabledControllers } from '../../controllers/controller-names.js'
import type { EgressConfig } from '../../lib/egress/egress-config.js'
import type { AuthorizationConfig, AuthorizationMode } from '../../protocol/authorization-config.js'
import type { AdmissionStart, ConnectionConfig, ServiceNetwork } from '../../protocol/pool-start.js'
import type { TracingConfig } from '../../protocol/tracing-config.js'
import { DEFAULT_MEDIA_TYPE, EMBEDDED_MEDIA_TYPE } from '../../storage/factory/factory-defaults.js'
import { DEFAULT_ETCD_OPTIONS, type EtcdOptions, validateEtcdOptions } from '../../storage/factory/factory-options.js'
import { IN_MEMORY } from '../../storage/factory/storage-config.js'
import { type AuditConfig, auditConfig } from '../audit/audit-options.js'
import { defaultPoolThreads } from '../threads/pool.js'
import { readAdmissionConfig, readWebhookUsers } from './admission-config.js'
import { type BrowserConfig, browserConfig } from './browser-options.js'
import { type FeatureSwitches, featureSwitches, pluginsWithoutGate } from './compatibility-options.js'
import { type ControllerConfig, controllerConfig } from './controller-options.js'
import { readEgressSelector } from './egress-selector.js'
import { flagBoolean, flagBytes, flagDurationMs, flagList, flagNumber, flagText } from './flag-values.js'
import type { FlagValues } from './flags.js'
import { serviceSettings, validate } from './options.js'
import { type SecurityConfig, securityConfig } from './security-config.js'
import { serviceNetwork } from './service-options.js'
import { tracingConfig } from './tracing-options.js'

declare const completed: unique symbol

export interface Config {
  /** Only complete() can make a configuration. */
  readonly [completed]: true
  readonly host: string
  readonly port: number
  readonly security: SecurityConfig
  readonly poolThreads: number
  /** How many front ends there are: one runs in the main thread, more run in threads of their own. */
  readonly frontEnds: number
  readonly httpEngine: 'auto' | 'uws' | 'node'
  /** For an engine that speaks HTTP/2. */
  readonly http2: { readonly enabled: boolean; readonly maxStreams: number; readonly goawayChance: number }
  /** The name of this server in addresses that clients are told; '' for the one that it listens on. */
  readonly externalHostname: string
  /** Whether other processes may listen on the port. */
  readonly permitPortSharing: boolean
  readonly browsers: BrowserConfig
  readonly features: FeatureSwitches
  readonly shutdownDelayMs: number
  /** Whether new requests are refused with Retry-After, at an open port, while those under way are finished. */
  readonly shutdownSendRetryAfter: boolean
  readonly disabledMetrics: readonly string[]
  readonly logLevel: string
  readonly authorization: AuthorizationConfig
  readonly etcdOptions: EtcdOptions
  /** The values of --runtime-config, key=value and valid; see api/runtime-config.ts. */
  readonly runtimeConfig: readonly string[]
  readonly serviceNetwork: ServiceNetwork
  /** The value of --advertise-address; '' when it was not given. */
  readonly advertiseAddress: string
  readonly kubernetesServiceNodePort: number
  readonly endpointReconcilerType: string
  readonly eventTtlSeconds: number
  readonly allowPrivileged: boolean
  readonly admission: AdmissionStart
  readonly controllers: ControllerConfig
  readonly cacheMemoryLimitBytes: number
  readonly inflight: { readonly maxRequests: number; readonly maxMutatingRequests: number }
  readonly priorityAndFairness: boolean
  /** Undefined when nothing is audited. */
  readonly audit: AuditConfig | undefined
  readonly requestTimeoutMs: number
  /** A request that takes longer is logged as slow; with 0 none is. */
  readonly slowRequestMs: number
  readonly minRequestTimeoutSeconds: number
  readonly kubelet: KubeletConfig
  readonly aggregation: AggregationConfig
  /** How connections leave: what --egress-selector-config-file says. */
  readonly egress: EgressConfig
  /** Undefined when nothing is traced. */
  readonly tracing: TracingConfig | undefined
  /** Whether threads may be profiled over /debug/pprof. */
  readonly profiling: boolean
  /** The values of all flags by name, defaults included. */
  readonly flags: Readonly<Record<string, string>>
}

export interface AggregationConfig {
  /** Whether requests go to endpoints of a service instead of its cluster IP. */
  readonly byEndpoints: boolean
  readonly rejectRedirects: boolean
}

export interface KubeletConfig extends ConnectionConfig {
  /** The authority of kubelets' certificates; without it they are not verified. */
  readonly caFile: string
  readonly certFile: string
  readonly keyFile: string
  readonly timeoutMs: number
}

/** The configuration, or everything that is wrong with the flags. */
export function complete(values: FlagValues): { config: Config } | { errors: string[] } {
  const text = (name: string): string => flagText(values, name)
  const selected = readEgressSelector(text('egress-selector-config-file'))
  const egress = 'egress' in selected ? selected.egress : {}
  const etcdOptions: EtcdOptions = { ...etcdOptionsOf(values), egress: egress.etcd }
  const pluginConfig = readAdmissionConfig(text('admission-control-config-file'))
  const tracing = tracingConfig(values)
  const errors = [
    ...validate(values),
    ...validateEtcdOptions(etcdOptions).map((error) => error.message),
    ...('errors' in pluginConfig ? pluginConfig.errors : []),
    ...('errors' in selected ? selected.errors : []),
    ...('errors' in tracing ? tracing.errors : []),
  ]
  if (errors.length > 0) return { errors: [...new Set(errors)] }
  const services = serviceSettings(values)
  const plugins = 'config' in pluginConfig ? pluginConfig.config : {}
  const config: Omit<Config, typeof completed> = {
    host: text('bind-address'),
    port: flagNumber(values, 'secure-port'),
    security: securityConfig(values),
    poolThreads: flagNumber(values, 'pool-threads') || defaultPoolThreads(),
    frontEnds: flagNumber(values, 'front-ends'),
    httpEngine: text('http-engine') as Config['httpEngine'],
    ...servingConfig(values),
    logLevel: text('log-level'),
    authorization: authorizationConfig(values),
    etcdOptions,
    runtimeConfig: flagList(values, 'runtime-config'),
    serviceNetwork: serviceNetwork(services),
    advertiseAddress: services.advertiseAddress,
    kubernetesServiceNodePort: services.kubernetesServiceNodePort,
    endpointReconcilerType: services.endpointReconcilerType,
    allowPrivileged: flagBoolean(values, 'allow-privileged'),
    eventTtlSeconds: Math.round(flagDurationMs(values, 'event-ttl') / 1000),
    admission: {
      ...chosenPlugins(values),
      tolerationSeconds: {
        notReady: flagNumber(values, 'default-not-ready-toleration-seconds'),
        unreachable: flagNumber(values, 'default-unreachable-toleration-seconds'),
      },
      config: plugins,
      webhookUsers: {
        mutating: readWebhookUsers(plugins['MutatingAdmissionWebhook']),
        validating: readWebhookUsers(plugins['ValidatingAdmissionWebhook']),
      },
      makesAccounts: enabledControllers(flagList(values, 'controllers')).includes('serviceaccount-controller'),
      threads: flagNumber(values, 'pool-threads') || defaultPoolThreads(),
    },
    controllers: controllerConfig(values, securityConfig(values)),
    cacheMemoryLimitBytes: flagBytes(values, 'cache-memory-limit'),
    inflight: {
      maxRequests: flagNumber(values, 'max-requests-inflight'),
      maxMutatingRequests: flagNumber(values, 'max-mutating-requests-inflight'),
    },
    audit: auditConfig(values),
    priorityAndFairness: flagBoolean(values, 'enable-priority-and-fairness'),
    requestTimeoutMs: flagDurationMs(values, 'request-timeout'),
    slowRequestMs: flagDurationMs(values, 'slow-request-threshold'),
    minRequestTimeoutSeconds: flagNumber(values, 'min-request-timeout'),
    profiling: flagBoolean(values, 'profiling'),
    tracing: 'config' in tracing ? tracing.config : undefined,
    flags: Object.fromEntries(values),
    kubelet: kubeletConfig(values),
    egress,
    aggregation: {
      byEndpoints: flagBoolean(values, 'enable-aggregator-routing'),
      rejectRedirects: flagBoolean(values, 'aggregator-reject-forwarding-redirect'),
    },
  }
  return { config: Object.freeze(config) as Config }
}

type ServingConfig = Pick<
  Config,
  | 'http2'
  | 'externalHostname'
  | 'permitPortSharing'
  | 'browsers'
  | 'features'
  | 'shutdownDelayMs'
  | 'shutdownSendRetryAfter'
  | 'disabledMetrics'
>

function servingConfig(values: FlagValues): ServingConfig {
  return {
    http2: {
      enabled: !flagBoolean(values, 'disable-http2-serving'),
      maxStreams: flagNumber(values, 'http2-max-streams-per-connection'),
      goawayChance: flagNumber(values, 'goaway-chance'),
    },
    externalHostname: flagText(values, 'external-hostname'),
    permitPortSharing: flagBoolean(values, 'permit-port-sharing'),
    browsers: browserConfig(values),
    features: featureSwitches(values),
    shutdownDelayMs: flagDurationMs(values, 'shutdown-delay-duration'),
    shutdownSendRetryAfter: flagBoolean(values, 'shutdown-send-retry-after'),
    disabledMetrics: flagList(values, 'disabled-metrics'),
  }
}

function etcdOptionsOf(values: FlagValues): EtcdOptions {
  const text = (name: string): string => flagText(values, name)
  const backend = text('storage-backend')
  const servers = flagList(values, 'etcd-servers')
  const isEmbedded = backend === 'embedded' || (backend === '' && servers.length === 0)
  return {
    ...DEFAULT_ETCD_OPTIONS,
    storageBackend: backend,
    dataDir: isEmbedded ? dataFolder(text('data-dir')) : '',
    etcdServers: servers,
    etcdServersOverrides: flagList(values, 'etcd-servers-overrides'),
    etcdPrefix: text('etcd-prefix'),
    etcdCaFile: text('etcd-cafile'),
    etcdCertFile: text('etcd-certfile'),
    etcdKeyFile: text('etcd-keyfile'),
    storageMediaType: text('storage-media-type') || (isEmbedded ? EMBEDDED_MEDIA_TYPE : DEFAULT_MEDIA_TYPE),
    watchCache: flagBoolean(values, 'watch-cache'),
    watchCacheSizes: flagList(values, 'watch-cache-sizes'),
    deleteCollectionWorkers: flagNumber(values, 'delete-collection-workers'),
    enableGarbageCollector: flagBoolean(values, 'enable-garbage-collector'),
    encryptionProviderConfig: text('encryption-provider-config'),
    encryptionProviderConfigAutomaticReload: flagBoolean(values, 'encryption-provider-config-automatic-reload'),
    etcdCompactionIntervalMs: flagDurationMs(values, 'etcd-compaction-interval'),
    etcdCountMetricPollPeriodMs: flagDurationMs(values, 'etcd-count-metric-poll-period'),
    etcdDbMetricPollIntervalMs: flagDurationMs(values, 'etcd-db-metric-poll-interval'),
    etcdHealthcheckTimeoutMs: flagDurationMs(values, 'etcd-healthcheck-timeout'),
    etcdReadycheckTimeoutMs: flagDurationMs(values, 'etcd-readycheck-timeout'),
    leaseReuseDurationSeconds: flagNumber(values, 'lease-reuse-duration-seconds'),
  }
}

/** Which admission plugins run: those of the flags, without those whose feature gate is off. */
function chosenPlugins(values: FlagValues): Pick<AdmissionStart, 'enable' | 'disable'> {
  const off = pluginsWithoutGate(values)
  const exactly = flagList(values, 'admission-control')
  if (exactly.length > 0)
    return { enable: exactly, disable: [...ORDERED_PLUGINS.filter((name) => !exactly.includes(name)), ...off] }
  return {
    enable: flagList(values, 'enable-admission-plugins'),
    disable: [...flagList(values, 'disable-admission-plugins'), ...off],
  }
}

const ACCESS_REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

function authorizationConfig(values: FlagValues): Config['authorization'] {
  const delegate = flagText(values, 'authorization-kubeconfig')
  const isDelegated = delegate !== ''
  return {
    modes: isDelegated ? ['Webhook'] : (flagList(values, 'authorization-mode') as AuthorizationMode[]),
    alwaysAllowPaths: isDelegated ? flagList(values, 'authorization-always-allow-paths') : [],
    webhook: {
      configFile: isDelegated ? delegate : flagText(values, 'authorization-webhook-config-file'),
      path: isDelegated ? ACCESS_REVIEWS : '',
      version: isDelegated || flagText(values, 'authorization-webhook-version') === 'v1' ? 'v1' : 'v1beta1',
      authorizedTtlMs: flagDurationMs(values, 'authorization-webhook-cache-authorized-ttl'),
      unauthorizedTtlMs: flagDurationMs(values, 'authorization-webhook-cache-unauthorized-ttl'),
    },
  }
}

function kubeletConfig(values: FlagValues): Config['kubelet'] {
  return {
    preferredAddressTypes: flagList(values, 'kubelet-preferred-address-types'),
    kubeletPort: flagNumber(values, 'kubelet-port'),
    caFile: flagText(values, 'kubelet-certificate-authority'),
    certFile: flagText(values, 'kubelet-client-certificate'),
    keyFile: flagText(values, 'kubelet-client-key'),
    timeoutMs: flagDurationMs(values, 'kubelet-timeout'),
  }
}

const dataFolder = (given: string): string => (given === IN_MEMORY ? IN_MEMORY : path.resolve(given))

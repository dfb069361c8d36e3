/** Thread: main. The flags of the server, and what is wrong with their values, all of it at once. */
import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { pluginNameErrors } from '../../admission/plugin-names.js'
import { Catalogue } from '../../api/catalogue.js'
import { validateRuntimeConfig } from '../../api/runtime-config.js'
import { MAX_READERS } from '../../cacher/memory/memory-layout.js'
import { IN_MEMORY } from '../../storage/factory/storage-config.js'
import { AUDIT_FLAGS, auditErrors } from '../audit/audit-options.js'
import { AUTHORIZATION_FLAGS, authorizationErrors } from './authorization-options.js'
import { CONTROLLER_FLAGS, controllerFlagErrors } from './controller-options.js'
import { DELEGATION_FILES, DELEGATION_FLAGS, delegationErrors } from './delegation-options.js'
import { fileProblem, folderProblem, roomProblem } from './file-checks.js'
import { flagBoolean, flagDurationMs, flagList, flagNumber, flagText } from './flag-values.js'
import type { Flag, FlagValues } from './flags.js'
import { SECURITY_FILES, SECURITY_FLAGS, securityErrors } from './security-options.js'
import { SERVICE_FLAGS, type ServiceSettings, serviceErrors } from './service-options.js'
import { STORAGE_FLAGS, storageErrors } from './storage-options.js'

const SERVING = 'Serving'
const LIMITS = 'Limits'
const ADMISSION = 'Admission'
const NETWORK = 'Outgoing connections'
const KUBELETS = 'Kubelets'
const AGGREGATION = 'Extension API servers'
const LOGS = 'Logs and debugging'

/**
 * Every thread that reads shared memory has a place of its own there; some places are left for the process itself and
 * for restarts.
 */
const MAX_FRONT_ENDS = 16
const MAX_POOL_THREADS = MAX_READERS - MAX_FRONT_ENDS - 8

/** Names that kube-apiserver has mean here what they mean there. */
export const FLAGS: readonly Flag[] = [
  {
    name: 'config',
    type: 'string',
    default: '',
    group: SERVING,
    help: 'A file of flags (YAML or JSON), such as "secure-port: 6443"; what is said on the command line wins.',
  },
  { name: 'bind-address', type: 'string', default: '127.0.0.1', group: SERVING, help: 'The address to listen on.' },
  {
    name: 'secure-port',
    type: 'integer',
    default: '6443',
    group: SERVING,
    help: 'The port to listen on; 0 takes any free one.',
  },
  {
    name: 'pool-threads',
    type: 'integer',
    default: '0',
    group: SERVING,
    help: 'Threads that decode, validate and store; 0 chooses by the number of cores.',
  },
  {
    name: 'front-ends',
    type: 'integer',
    default: '1',
    group: SERVING,
    help: 'Threads that serve clients on the port; 1 is the main thread itself.',
  },
  {
    name: 'http-engine',
    type: 'string',
    default: 'auto',
    group: SERVING,
    help: 'What speaks HTTP: uws (uWebSockets.js, HTTP/1.1, the faster one), node (Node itself, HTTP/2 too), or auto: uws where it loads.',
  },
  {
    name: 'http2-max-streams-per-connection',
    type: 'integer',
    default: '0',
    group: SERVING,
    help: 'Requests at a time that a connection of HTTP/2 may have, with --http-engine=node; 0: 1000.',
  },
  {
    name: 'disable-http2-serving',
    type: 'boolean',
    default: 'false',
    group: SERVING,
    help: 'Speaks HTTP/1.1 only, with --http-engine=node.',
  },
  {
    name: 'shutdown-delay-duration',
    type: 'duration',
    default: '0s',
    group: SERVING,
    help: 'How long requests are served after /readyz has said that the server stops.',
  },
  ...SECURITY_FLAGS,
  ...DELEGATION_FLAGS,
  ...AUTHORIZATION_FLAGS,
  {
    name: 'runtime-config',
    type: 'map',
    default: '',
    group: SERVING,
    help: 'Versions and resources to serve or not: api/all, api/ga, api/beta, api/alpha, group/version or group/version/resource, each =true or =false.',
  },
  {
    name: 'enable-aggregator-routing',
    type: 'boolean',
    default: 'false',
    group: AGGREGATION,
    help: 'Whether requests go to endpoints of a service instead of its cluster IP: where cluster IPs cannot be reached from here.',
  },
  {
    name: 'aggregator-reject-forwarding-redirect',
    type: 'boolean',
    default: 'true',
    group: AGGREGATION,
    help: 'Whether a redirect of an extension API server is answered with an error instead of being passed back.',
  },
  {
    name: 'profiling',
    type: 'boolean',
    default: 'true',
    group: LOGS,
    help: 'Whether /debug/pprof serves CPU profiles and heap snapshots of threads, to those who are allowed to see them.',
  },
  { name: 'log-level', type: 'string', default: 'info', group: LOGS, help: 'debug, info, warn or error.' },
  {
    name: 'slow-request-threshold',
    type: 'duration',
    default: '1s',
    group: LOGS,
    help: 'Requests that take so long, and are no watches, get a line in the log; 0 for none.',
  },
  ...STORAGE_FLAGS,
  {
    name: 'enable-admission-plugins',
    type: 'list',
    default: '',
    group: ADMISSION,
    help: 'Admission plugins to turn on besides those that are on anyway; docs/admission.md lists them.',
  },
  {
    name: 'disable-admission-plugins',
    type: 'list',
    default: '',
    group: ADMISSION,
    help: 'Admission plugins to turn off.',
  },
  {
    name: 'admission-control-config-file',
    type: 'string',
    default: '',
    group: ADMISSION,
    help: 'The AdmissionConfiguration file: what plugins are told.',
  },
  ...CONTROLLER_FLAGS,
  {
    name: 'max-requests-inflight',
    type: 'integer',
    default: '400',
    group: LIMITS,
    help: 'Reads under way at once; 0: no limit.',
  },
  {
    name: 'max-mutating-requests-inflight',
    type: 'integer',
    default: '200',
    group: LIMITS,
    help: 'Writes under way at once; 0: no limit.',
  },
  {
    name: 'enable-priority-and-fairness',
    type: 'boolean',
    default: 'true',
    group: LIMITS,
    help: 'Whether requests wait in fair queues by flow schema and priority level; the two limits above add up to its seats.',
  },
  {
    name: 'request-timeout',
    type: 'duration',
    default: '1m',
    group: LIMITS,
    help: 'How long a request may take that is not a watch.',
  },
  {
    name: 'min-request-timeout',
    type: 'integer',
    default: '1800',
    group: LIMITS,
    help: 'Seconds that a watch lasts at least when the client does not say; at most twice that.',
  },
  {
    name: 'allow-privileged',
    type: 'boolean',
    default: 'true',
    group: LIMITS,
    help: 'Whether containers may be privileged. kube-apiserver’s default is false; clusters are set up with true.',
  },
  {
    name: 'event-ttl',
    type: 'duration',
    default: '1h',
    group: LIMITS,
    help: 'How long events are kept.',
  },
  {
    name: 'egress-selector-config-file',
    type: 'string',
    default: '',
    group: NETWORK,
    help: 'An EgressSelectorConfiguration: proxies by way of which etcd, the cluster and webhooks are reached (docs/egress.md).',
  },
  {
    name: 'kubelet-preferred-address-types',
    type: 'list',
    default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
    group: KUBELETS,
    help: 'Which of the addresses of a node its kubelet is reached by, the best first.',
  },
  {
    name: 'kubelet-port',
    type: 'integer',
    default: '10250',
    group: KUBELETS,
    help: 'The port of kubelets whose node does not say it.',
  },
  {
    name: 'kubelet-certificate-authority',
    type: 'string',
    default: '',
    group: KUBELETS,
    help: 'Whom the certificates of kubelets must be signed by (PEM). Without it they are not verified.',
  },
  {
    name: 'kubelet-client-certificate',
    type: 'string',
    default: '',
    group: KUBELETS,
    help: 'The certificate that is shown to kubelets (PEM).',
  },
  {
    name: 'kubelet-client-key',
    type: 'string',
    default: '',
    group: KUBELETS,
    help: 'The key of that certificate (PEM).',
  },
  {
    name: 'kubelet-timeout',
    type: 'duration',
    default: '5s',
    group: KUBELETS,
    help: 'How long a kubelet may take to accept a connection.',
  },
  ...SERVICE_FLAGS,
  ...AUDIT_FLAGS,
]

export const serviceSettings = (values: FlagValues): ServiceSettings => ({
  clusterIPRanges: flagList(values, 'service-cluster-ip-range'),
  nodePortRange: flagText(values, 'service-node-port-range'),
  advertiseAddress: flagText(values, 'advertise-address'),
  kubernetesServiceNodePort: flagNumber(values, 'kubernetes-service-node-port'),
  endpointReconcilerType: flagText(values, 'endpoint-reconciler-type'),
})

/** Gives everything that is wrong with the values; those that are not of their type were reported before. */
export function validate(values: FlagValues): string[] {
  const errors: string[] = []
  const pair = (a: string, b: string): void => {
    if ((flagText(values, a) === '') !== (flagText(values, b) === ''))
      errors.push(`--${a} and --${b} must be given together`)
  }
  pair('tls-cert-file', 'tls-private-key-file')
  pair('etcd-certfile', 'etcd-keyfile')
  pair('kubelet-client-certificate', 'kubelet-client-key')
  for (const name of [
    ...SECURITY_FILES,
    ...DELEGATION_FILES,
    'etcd-cafile',
    'etcd-certfile',
    'etcd-keyfile',
    'kubelet-certificate-authority',
    'kubelet-client-certificate',
    'kubelet-client-key',
    'encryption-provider-config',
    'authorization-webhook-config-file',
  ]) {
    for (const file of flagList(values, name)) {
      const problem = fileProblem(file)
      if (problem !== undefined) errors.push(`--${name}: ${problem}`)
    }
  }
  errors.push(...folderErrors(values))
  const host = flagText(values, 'bind-address')
  if (isIP(host) === 0 && host !== 'localhost') errors.push(`--bind-address: ${JSON.stringify(host)} is no IP address`)
  const within = (name: string, low: number, high: number): void => {
    const number = flagNumber(values, name)
    if (Number.isInteger(number) && (number < low || number > high))
      errors.push(`--${name} must be between ${low} and ${high}, not ${number}`)
  }
  within('secure-port', 0, 65535)
  within('pool-threads', 0, MAX_POOL_THREADS)
  within('front-ends', 1, MAX_FRONT_ENDS)
  within('http2-max-streams-per-connection', 0, 1e6)
  const engine = flagText(values, 'http-engine')
  if (!['auto', 'uws', 'node'].includes(engine))
    errors.push(`--http-engine ${JSON.stringify(engine)} is unknown; it is auto, uws or node`)
  within('delete-collection-workers', 1, 1000)
  within('max-requests-inflight', 0, 1e9)
  within('max-mutating-requests-inflight', 0, 1e9)
  within('min-request-timeout', 1, 1e9)
  within('kubelet-port', 1, 65535)
  if (
    flagBoolean(values, 'enable-priority-and-fairness') &&
    flagNumber(values, 'max-requests-inflight') + flagNumber(values, 'max-mutating-requests-inflight') <= 0
  )
    errors.push('--max-requests-inflight and --max-mutating-requests-inflight must add up to something positive')
  errors.push(
    ...storageErrors(values),
    ...auditErrors(values),
    ...authorizationErrors(values),
    ...serviceErrors(serviceSettings(values)),
  )
  for (const name of ['event-ttl', 'request-timeout'])
    if (flagDurationMs(values, name) < 1_000) errors.push(`--${name} must be at least 1s`)
  errors.push(...validateRuntimeConfig(flagList(values, 'runtime-config'), Catalogue.builtin()))
  errors.push(
    ...pluginNameErrors(flagList(values, 'enable-admission-plugins'), flagList(values, 'disable-admission-plugins')),
  )
  errors.push(...controllerFlagErrors(values))
  errors.push(...securityErrors(values), ...delegationErrors(values), ...auditErrors(values))
  if (!['debug', 'info', 'warn', 'error'].includes(flagText(values, 'log-level')))
    errors.push('--log-level must be debug, info, warn or error')
  return errors
}

/** A folder of certificates that exists is not looked at: it may be one that can only be read. */
function folderErrors(values: FlagValues): string[] {
  const errors: string[] = []
  const check = (name: string, problem: string | undefined): void => {
    if (problem !== undefined) errors.push(`--${name}: ${problem}`)
  }
  const dataDir = flagText(values, 'data-dir')
  const isEmbedded = flagText(values, 'storage-backend') !== 'etcd3' && flagList(values, 'etcd-servers').length === 0
  if (isEmbedded && dataDir !== IN_MEMORY) {
    check('data-dir', dataDir === '' ? `it needs a folder, or ${IN_MEMORY}` : folderProblem(dataDir))
    if (errors.length === 0) check('data-dir', roomProblem(dataDir))
  }
  const certDir = flagText(values, 'cert-dir')
  if (certDir !== '' && !existsSync(certDir)) check('cert-dir', folderProblem(certDir))
  return errors
}

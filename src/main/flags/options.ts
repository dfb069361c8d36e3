/** Thread: main. The flags of the server, and what is wrong with their values, all of it at once. */
import { existsSync } from 'node:fs'
import { pluginNameErrors } from '../../admission/plugin-names.js'
import { Catalogue } from '../../api/catalogue.js'
import { validateRuntimeConfig } from '../../api/runtime-config.js'
import { AUTHORIZATION_MODES } from '../../protocol/authorization-config.js'
import { IN_MEMORY } from '../../storage/factory/storage-config.js'
import { AUDIT_FLAGS, auditErrors } from '../audit/audit-options.js'
import { BROWSER_FLAGS, browserErrors } from './browser-options.js'
import { COMPATIBILITY_FLAGS, compatibilityErrors } from './compatibility-options.js'
import { CONTROLLER_FLAGS, controllerFlagErrors } from './controller-options.js'
import { DELEGATION_FILES, DELEGATION_FLAGS, delegationErrors } from './delegation-options.js'
import { fileProblem, folderProblem, roomProblem } from './file-checks.js'
import { flagBoolean, flagDurationMs, flagList, flagNumber, flagText, rangeErrors } from './flag-values.js'
import type { Flag, FlagValues } from './flags.js'
import { SECURITY_FILES, SECURITY_FLAGS, securityErrors } from './security-options.js'
import { SERVICE_FLAGS, type ServiceSettings, serviceErrors } from './service-options.js'
import { SERVING, SERVING_FLAGS, servingErrors } from './serving-options.js'
import { STORAGE_FLAGS, storageErrors } from './storage-options.js'
import { TRACING_FLAGS } from './tracing-options.js'

const LIMITS = 'Limits'
const ACCESS = 'Access'
const ADMISSION = 'Admission'
const NETWORK = 'Outgoing connections'
const KUBELETS = 'Kubelets'
const AGGREGATION = 'Extension API servers'
const LOGS = 'Logs and debugging'

/** Names that kube-apiserver has mean here what they mean there. */
export const FLAGS: readonly Flag[] = [
  ...SERVING_FLAGS,
  ...BROWSER_FLAGS,
  ...COMPATIBILITY_FLAGS,
  ...SECURITY_FLAGS,
  ...DELEGATION_FLAGS,
  {
    name: 'authorization-mode',
    type: 'list',
    default: 'RBAC',
    group: ACCESS,
    help: 'Who decides what a user may do, in order: RBAC, Node, Webhook, AlwaysAllow, AlwaysDeny.',
  },
  {
    name: 'authorization-webhook-config-file',
    type: 'string',
    default: '',
    group: ACCESS,
    help: 'The kubeconfig of the service that the mode Webhook asks.',
  },
  {
    name: 'authorization-webhook-version',
    type: 'string',
    default: 'v1beta1',
    group: ACCESS,
    help: 'The version of the SubjectAccessReview that it is sent: v1 or v1beta1.',
  },
  {
    name: 'authorization-webhook-cache-authorized-ttl',
    type: 'duration',
    default: '5m',
    group: ACCESS,
    help: 'How long its answers that allow are kept.',
  },
  {
    name: 'authorization-webhook-cache-unauthorized-ttl',
    type: 'duration',
    default: '30s',
    group: ACCESS,
    help: 'How long its other answers are kept.',
  },
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
  {
    name: 'disabled-metrics',
    type: 'list',
    default: '',
    group: LOGS,
    help: 'Metrics that /metrics does not show.',
  },
  ...TRACING_FLAGS,
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
    name: 'admission-control',
    type: 'list',
    default: '',
    group: ADMISSION,
    help: 'Exactly the admission plugins to run, in place of the two flags above; kube-apiserver calls it deprecated.',
  },
  {
    name: 'default-not-ready-toleration-seconds',
    type: 'integer',
    default: '300',
    group: ADMISSION,
    help: 'How long pods that do not say so stay on a node that is not ready (plugin DefaultTolerationSeconds).',
  },
  {
    name: 'default-unreachable-toleration-seconds',
    type: 'integer',
    default: '300',
    group: ADMISSION,
    help: 'How long they stay on a node that cannot be reached.',
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
    name: 'max-connection-bytes-per-sec',
    type: 'integer',
    default: '0',
    group: LIMITS,
    help: 'Bytes a second of a connection that is passed on to a kubelet: 0, which is no limit, is all that there is here.',
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
  errors.push(...servingErrors(values))
  const within = (name: string, low: number, high: number): void =>
    void errors.push(...rangeErrors(values, name, low, high))
  within('default-not-ready-toleration-seconds', 0, 2 ** 31 - 1)
  within('default-unreachable-toleration-seconds', 0, 2 ** 31 - 1)
  if (flagNumber(values, 'max-connection-bytes-per-sec') !== 0)
    errors.push('--max-connection-bytes-per-sec: connections are not slowed down here; it must be 0')
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
  errors.push(...pluginErrors(values), ...browserErrors(values), ...compatibilityErrors(values))
  errors.push(...controllerFlagErrors(values))
  errors.push(...securityErrors(values), ...delegationErrors(values), ...auditErrors(values))
  if (!['debug', 'info', 'warn', 'error'].includes(flagText(values, 'log-level')))
    errors.push('--log-level must be debug, info, warn or error')
  return errors
}

function pluginErrors(values: FlagValues): string[] {
  const [enable, disable, exactly] = ['enable-admission-plugins', 'disable-admission-plugins', 'admission-control'].map(
    (name) => flagList(values, name),
  ) as [string[], string[], string[]]
  const errors = pluginNameErrors(enable, disable)
  const wrong = pluginNameErrors(exactly, []).map((error) =>
    error.replace('--enable-admission-plugins', '--admission-control'),
  )
  if (exactly.length > 0 && enable.length + disable.length > 0)
    wrong.push('--admission-control cannot stand beside --enable-admission-plugins or --disable-admission-plugins')
  return [...errors, ...wrong]
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

function authorizationErrors(values: FlagValues): string[] {
  const errors: string[] = []
  const modes = flagList(values, 'authorization-mode')
  const file = flagText(values, 'authorization-webhook-config-file')
  if (modes.length === 0) errors.push('--authorization-mode needs at least one mode')
  for (const mode of new Set(modes)) {
    if (!(AUTHORIZATION_MODES as readonly string[]).includes(mode))
      errors.push(
        `--authorization-mode: ${JSON.stringify(mode)} is unknown; the modes are ${AUTHORIZATION_MODES.join(', ')}`,
      )
    if (modes.indexOf(mode) !== modes.lastIndexOf(mode))
      errors.push(`--authorization-mode: ${mode} is given more than once`)
  }
  if (modes.includes('Webhook') && file === '')
    errors.push('--authorization-mode Webhook needs --authorization-webhook-config-file')
  if (!modes.includes('Webhook') && file !== '')
    errors.push('--authorization-webhook-config-file is of no use without --authorization-mode Webhook')
  if (!['v1', 'v1beta1'].includes(flagText(values, 'authorization-webhook-version')))
    errors.push('--authorization-webhook-version must be v1 or v1beta1')
  return errors
}

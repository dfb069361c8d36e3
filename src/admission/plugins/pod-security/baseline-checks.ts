/** Thread: any. The baseline level, which forbids what known ways out of a container need. */
import type { LifecycleHandler, PodSpec, Probe, SecurityContext } from '../../../api/generated/kinds/core.v1.js'
import { allContainers } from '../pod.js'
import {
  type Check,
  type CheckPod,
  containerList,
  hasUserNamespace,
  namesWhere,
  plural,
  quoted,
  setters,
  sorted,
} from './check.js'

const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/'
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod'
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'
const PROFILES: ReadonlySet<string> = new Set(['RuntimeDefault', 'Localhost'])

const CAPABILITIES: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

/** The allowed sysctls, by the version that first allowed them. */
const SYSCTLS: ReadonlyMap<string, number> = new Map([
  ['kernel.shm_rmid_forced', 0],
  ['net.ipv4.ip_local_port_range', 0],
  ['net.ipv4.tcp_syncookies', 0],
  ['net.ipv4.ping_group_range', 0],
  ['net.ipv4.ip_unprivileged_port_start', 0],
  ['net.ipv4.ip_local_reserved_ports', 27],
  ['net.ipv4.tcp_keepalive_time', 29],
  ['net.ipv4.tcp_fin_timeout', 29],
  ['net.ipv4.tcp_keepalive_intvl', 29],
  ['net.ipv4.tcp_keepalive_probes', 29],
  ['net.ipv4.tcp_rmem', 32],
  ['net.ipv4.tcp_wmem', 32],
])

const SELINUX_TYPES: ReadonlyMap<string, number> = new Map([
  ['', 0],
  ['container_t', 0],
  ['container_init_t', 0],
  ['container_kvm_t', 0],
  ['container_engine_t', 31],
])

/** Names the pod and those containers whose security context fails the test. */
function contextsWhere(spec: PodSpec, test: (context: SecurityContext) => boolean): string {
  const podDoes = spec.securityContext !== undefined && test(spec.securityContext)
  return setters(
    podDoes,
    namesWhere(spec, ({ securityContext }) => securityContext !== undefined && test(securityContext)),
  )
}

const contexts = (spec: PodSpec): SecurityContext[] =>
  [spec.securityContext, ...allContainers(spec).map(({ securityContext }) => securityContext)].filter(
    (context): context is SecurityContext => context !== undefined,
  )

const appArmor: CheckPod = ({ metadata, spec }) => {
  const isBad = ({ appArmorProfile }: SecurityContext): boolean =>
    appArmorProfile !== undefined && !PROFILES.has(appArmorProfile.type ?? '')
  const values = sorted(
    contexts(spec)
      .filter(isBad)
      .map(({ appArmorProfile }) => appArmorProfile?.type ?? ''),
  )
  const annotations = Object.entries(metadata.annotations ?? {})
    .filter(([key, value]) => key.startsWith(APPARMOR) && !/^(?:|runtime\/default|localhost\/.*)$/s.test(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort()
  const who = [contextsWhere(spec, isBad), annotations.length > 0 ? plural('annotation', annotations.length) : '']
  const bad = [...values, ...annotations]
  if (bad.length === 0) return undefined
  return {
    reason: plural('forbidden AppArmor profile', bad.length),
    detail: `${who.filter((part) => part !== '').join(' and ')} must not set AppArmor profile type to ${quoted(bad)}`,
  }
}

const capabilities: CheckPod = ({ spec }) => {
  const added = (context: SecurityContext | undefined): string[] =>
    (context?.capabilities?.add ?? []).filter((name) => !CAPABILITIES.has(name))
  const names = namesWhere(spec, ({ securityContext }) => added(securityContext).length > 0)
  if (names.length === 0) return undefined
  const bad = sorted(allContainers(spec).flatMap(({ securityContext }) => added(securityContext)))
  return {
    reason: 'non-default capabilities',
    detail: `${containerList(names)} must not include ${quoted(bad)} in securityContext.capabilities.add`,
  }
}

const hostNamespaces: CheckPod = ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true)
  return shared.length === 0
    ? undefined
    : { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
}

const hostPathVolumes: CheckPod = ({ spec }) => {
  const names = (spec.volumes ?? []).filter((volume) => volume.hostPath !== undefined).map(({ name = '' }) => name)
  return names.length === 0
    ? undefined
    : { reason: 'hostPath volumes', detail: `${plural('volume', names.length)} ${quoted(names)}` }
}

const hostPorts: CheckPod = ({ spec }) => {
  const names = namesWhere(spec, ({ ports }) => (ports ?? []).some(({ hostPort = 0 }) => hostPort !== 0))
  if (names.length === 0) return undefined
  const ports = sorted(
    allContainers(spec).flatMap((container) =>
      (container.ports ?? []).filter(({ hostPort = 0 }) => hostPort !== 0).map(({ hostPort }) => String(hostPort)),
    ),
  )
  const uses = names.length === 1 ? 'uses' : 'use'
  return {
    reason: 'hostPort',
    detail: `${containerList(names)} ${uses} ${plural('hostPort', ports.length)} ${ports.join(', ')}`,
  }
}

const hostsOf = (handler: Probe | LifecycleHandler | undefined): string[] =>
  [handler?.httpGet?.host ?? '', handler?.tcpSocket?.host ?? ''].filter((host) => host !== '')

const hostProbes: CheckPod = ({ spec }) => {
  const found = allContainers(spec).map(({ name = '', livenessProbe, readinessProbe, startupProbe, lifecycle }) => ({
    name,
    hosts: [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap(hostsOf),
  }))
  const names = sorted(found.filter(({ hosts }) => hosts.length > 0).map(({ name }) => name))
  if (names.length === 0) return undefined
  const hosts = sorted(found.flatMap((one) => one.hosts))
  const uses = names.length === 1 ? 'uses' : 'use'
  return {
    reason: 'probe or lifecycle host',
    detail: `${containerList(names)} ${uses} ${plural('probe or lifecycle host', hosts.length)} ${quoted(hosts)}`,
  }
}

const privileged: CheckPod = ({ spec }) => {
  const names = namesWhere(spec, ({ securityContext }) => securityContext?.privileged === true)
  return names.length === 0
    ? undefined
    : { reason: 'privileged', detail: `${containerList(names)} must not set securityContext.privileged=true` }
}

/** The rule also belongs to the restricted level, which keeps it also for pods with a user namespace of their own. */
export const maskedProc: CheckPod = ({ spec }) => {
  const isBad = (context: SecurityContext | undefined): boolean => (context?.procMount ?? 'Default') !== 'Default'
  const names = namesWhere(spec, ({ securityContext }) => isBad(securityContext))
  if (names.length === 0) return undefined
  const values = sorted(
    allContainers(spec)
      .filter(({ securityContext }) => isBad(securityContext))
      .map(({ securityContext }) => securityContext!.procMount!),
  )
  return {
    reason: 'procMount',
    detail: `${containerList(names)} must not set securityContext.procMount to ${quoted(values)}`,
  }
}

const procMount: CheckPod = (pod, version) =>
  version >= 35 && hasUserNamespace(pod.spec) ? undefined : maskedProc(pod, version)

const seccompAnnotations: CheckPod = ({ metadata, spec }) => {
  const keys = [SECCOMP_POD, ...allContainers(spec).map(({ name }) => `${SECCOMP_CONTAINER}${name}`)]
  const bad = keys.filter((key) => {
    const value = metadata.annotations?.[key]
    return value !== undefined && !/^(?:runtime\/default|docker\/default|localhost\/.*)$/s.test(value)
  })
  if (bad.length === 0) return undefined
  const shown = sorted(bad.map((key) => `${key}=${JSON.stringify(metadata.annotations![key])}`))
  return { reason: 'seccompProfile', detail: `forbidden ${plural('annotation', shown.length)} ${shown.join(', ')}` }
}

export const isBadSeccomp = ({ seccompProfile }: SecurityContext): boolean =>
  seccompProfile !== undefined && !PROFILES.has(seccompProfile.type ?? '')

export const seccompFields: CheckPod = ({ spec }) => {
  const who = contextsWhere(spec, isBadSeccomp)
  if (who === '') return undefined
  const values = sorted(
    contexts(spec)
      .filter(isBadSeccomp)
      .map(({ seccompProfile }) => seccompProfile?.type ?? ''),
  )
  return {
    reason: 'seccompProfile',
    detail: `${who} must not set securityContext.seccompProfile.type to ${quoted(values)}`,
  }
}

const seccomp: CheckPod = (pod, version) => (version >= 19 ? seccompFields : seccompAnnotations)(pod, version)

const seLinux: CheckPod = ({ spec }, version) => {
  const typeOk = (type: string): boolean => (SELINUX_TYPES.get(type) ?? Number.POSITIVE_INFINITY) <= version
  const isBad = ({ seLinuxOptions: options }: SecurityContext): boolean =>
    options !== undefined && (!typeOk(options.type ?? '') || (options.user ?? '') !== '' || (options.role ?? '') !== '')
  const who = contextsWhere(spec, isBad)
  if (who === '') return undefined
  const options = contexts(spec).map(({ seLinuxOptions }) => seLinuxOptions ?? {})
  const types = sorted(options.map(({ type = '' }) => type).filter((type) => !typeOk(type)))
  const said = types.length > 0 ? [`${plural('type', types.length)} ${quoted(types)}`] : []
  if (options.some(({ user = '' }) => user !== '')) said.push('user may not be set')
  if (options.some(({ role = '' }) => role !== '')) said.push('role may not be set')
  return { reason: 'seLinuxOptions', detail: `${who} set forbidden securityContext.seLinuxOptions: ${said.join('; ')}` }
}

const sysctls: CheckPod = ({ spec }, version) => {
  const bad = (spec.securityContext?.sysctls ?? [])
    .map(({ name = '' }) => name)
    .filter((name) => (SYSCTLS.get(name) ?? Number.POSITIVE_INFINITY) > version)
  return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') }
}

const windowsHostProcess: CheckPod = ({ spec }) => {
  const who = contextsWhere(spec, ({ windowsOptions }) => windowsOptions?.hostProcess === true)
  return who === ''
    ? undefined
    : { reason: 'hostProcess', detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` }
}

const baseline = (id: string, check: CheckPod, since = 0): Check => ({ id, level: 'baseline', since, check })

/** The checks in the order in which they are reported. */
export const BASELINE_CHECKS: readonly Check[] = [
  baseline('appArmorProfile', appArmor),
  baseline('capabilities_baseline', capabilities),
  baseline('hostNamespaces', hostNamespaces),
  baseline('hostPathVolumes', hostPathVolumes),
  baseline('hostPorts', hostPorts),
  baseline('hostProbesAndHostLifecycle', hostProbes, 34),
  baseline('privileged', privileged),
  baseline('procMount', procMount),
  baseline('seLinuxOptions', seLinux),
  baseline('seccompProfile_baseline', seccomp),
  baseline('sysctls', sysctls),
  baseline('windowsHostProcess', windowsHostProcess),
]

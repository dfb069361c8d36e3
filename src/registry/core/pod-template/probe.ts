/** Thread: any. Probes and lifecycle hooks: what they call, defaults and rules. */

import { type FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type {
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  Probe,
  ProbeHandler,
} from '../../../api/generated/kinds/core.v1.js'
import type { Int64 } from '../../../api/scalar-types.js'
import { type Errors, nonnegative, oneOf, portNumber, portNumberOrName } from '../../../api/validation/checks.js'

/** What a probe or a hook calls. */
type Handler = ProbeHandler & LifecycleHandler

export function setProbeDefaults(probe: Probe | undefined): void {
  if (probe === undefined) return
  probe.timeoutSeconds ||= 1
  probe.periodSeconds ||= 10
  probe.successThreshold ||= 1
  probe.failureThreshold ||= 3
  if (probe.grpc !== undefined) probe.grpc.service ??= ''
  setHandlerDefaults(probe)
}

export function setLifecycleDefaults(lifecycle: Lifecycle | undefined): void {
  setHandlerDefaults(lifecycle?.postStart)
  setHandlerDefaults(lifecycle?.preStop)
}

function setHandlerDefaults(handler: Handler | undefined): void {
  if (handler?.httpGet === undefined) return
  handler.httpGet.path ||= '/'
  handler.httpGet.scheme ||= 'HTTP'
}

export type ProbeKind = 'livenessProbe' | 'readinessProbe' | 'startupProbe'

export function probeErrors(
  kind: ProbeKind,
  probe: Probe | undefined,
  gracePeriod: Int64 | undefined,
  path: FieldPath,
): Errors {
  if (probe === undefined) return []
  const { terminationGracePeriodSeconds: grace } = probe
  const errors = [
    ...handlerErrors(probe, gracePeriod, path),
    ...(
      ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'] as const
    ).flatMap((field) => nonnegative(probe[field], path.child(field))),
  ]
  const graceAt = path.child('terminationGracePeriodSeconds')
  if (grace !== undefined && grace <= 0) errors.push(invalid(graceAt, grace, 'must be greater than 0'))
  if (kind === 'readinessProbe') {
    if (grace !== undefined) errors.push(invalid(graceAt, grace, 'must not be set for readinessProbes'))
  } else if (probe.successThreshold !== 1) {
    errors.push(invalid(path.child('successThreshold'), probe.successThreshold ?? 0, 'must be 1'))
  }
  return errors
}

/** A handler has one action; of several the first counts and the others are refused. */
const ACTIONS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const

export function handlerErrors(handler: Handler, gracePeriod: Int64 | undefined, path: FieldPath): Errors {
  const given = ACTIONS.filter((action) => handler[action] !== undefined)
  if (given.length === 0) return [required(path, 'must specify a handler type')]
  return given.flatMap((action, i) =>
    i === 0
      ? actionErrors(handler, action, gracePeriod, path.child(action))
      : [forbidden(path.child(action), 'may not specify more than 1 handler type')],
  )
}

function actionErrors(
  handler: Handler,
  action: (typeof ACTIONS)[number],
  gracePeriod: Int64 | undefined,
  path: FieldPath,
): Errors {
  switch (action) {
    case 'exec':
      return (handler.exec!.command ?? []).length === 0 ? [required(path.child('command'))] : []
    case 'httpGet':
      return httpGetErrors(handler.httpGet!, path)
    case 'tcpSocket':
      return portNumberOrName(handler.tcpSocket!.port ?? 0, path.child('port'))
    case 'grpc':
      return portNumber(handler.grpc!.port ?? 0, path.child('port'))
    case 'sleep': {
      const { seconds = 0 } = handler.sleep!
      if (gracePeriod === undefined || (seconds >= 0 && seconds <= gracePeriod)) return []
      return [invalid(path, seconds, `must be non-negative and at most terminationGracePeriodSeconds (${gracePeriod})`)]
    }
  }
}

function httpGetErrors({ path: url = '', port, scheme, httpHeaders = [] }: HTTPGetAction, path: FieldPath): Errors {
  return [
    ...(url === '' ? [required(path.child('path'))] : []),
    ...portNumberOrName(port ?? 0, path.child('port')),
    ...oneOf(scheme, ['HTTP', 'HTTPS'], path.child('scheme')),
    ...httpHeaders
      .filter(({ name = '' }) => !/^[-A-Za-z0-9]+$/.test(name))
      .map(({ name = '' }) =>
        invalid(path.child('httpHeaders'), name, "a valid HTTP header must consist of alphanumeric characters or '-'"),
      ),
  ]
}

const range = (from: number, to: number, name: (n: number) => string): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => name(from + i))

const LINUX_SIGNALS: readonly string[] = [
  ...'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX'
    .split(' ')
    .map((name) => `SIG${name}`),
  ...range(1, 15, (n) => `SIGRTMIN+${n}`),
  ...range(1, 14, (n) => `SIGRTMAX-${n}`),
]
const WINDOWS_SIGNALS: readonly string[] = ['SIGKILL', 'SIGTERM']

export function lifecycleErrors(
  { postStart, preStop, stopSignal }: Lifecycle,
  gracePeriod: Int64 | undefined,
  path: FieldPath,
  os: string | undefined,
): Errors {
  const hook = (handler: Handler | undefined, name: string): Errors =>
    handler === undefined ? [] : handlerErrors(handler, gracePeriod, path.child(name))
  return [
    ...hook(postStart, 'postStart'),
    ...hook(preStop, 'preStop'),
    ...(stopSignal === undefined ? [] : stopSignalErrors(stopSignal, path.child('stopSignal'), os)),
  ]
}

function stopSignalErrors(signal: string, path: FieldPath, os: string | undefined): Errors {
  if (os === undefined) return [forbidden(path, 'may not be set for containers with empty `spec.os.name`')]
  const supported = os === 'windows' ? WINDOWS_SIGNALS : os === 'linux' ? LINUX_SIGNALS : undefined
  return supported === undefined || supported.includes(signal) ? [] : [notSupported(path, signal, supported)]
}

/** Thread: pool. Pods as kubectl prints them: how far they have come, in one word. */
import type { ContainerState, ContainerStatus, Pod } from '../../../api/generated/kinds/core.v1.js'
import { humanDuration } from '../../../api/human-duration.js'
import type { TableRules } from '../../generic/resource-rules.js'
import { AGE_COLUMN, ageOf, NAME_COLUMN } from '../../generic/table-columns.js'

interface Progress {
  reason: string
  ready: number
  restarts: number
  lastRestartMs: number
}

const isTrue = (pod: Pod, type: string): boolean =>
  (pod.status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True')

const endOf = ({ lastState }: ContainerStatus): number => Date.parse(lastState?.terminated?.finishedAt ?? '') || 0

const exitReason = ({ reason = '', signal = 0, exitCode = 0 }: NonNullable<ContainerState['terminated']>): string =>
  reason !== '' ? reason : signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode}`

function progressOf(pod: Pod): Progress {
  const { status = {} } = pod
  const gated = (status.conditions ?? []).some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  )
  const progress: Progress = {
    reason: gated ? 'SchedulingGated' : status.reason || status.phase || '',
    ready: 0,
    restarts: 0,
    lastRestartMs: 0,
  }
  const sidecars = { restarts: 0, lastRestartMs: 0 }
  const initializing = initialize(pod, progress, sidecars)
  if (!initializing || isTrue(pod, 'Initialized')) run(pod, progress, sidecars)
  if (pod.metadata?.deletionTimestamp !== undefined) {
    if (status.reason === 'NodeLost') progress.reason = 'Unknown'
    else if (status.phase !== 'Failed' && status.phase !== 'Succeeded') progress.reason = 'Terminating'
  }
  return progress
}

const isSidecar = (pod: Pod, name: string | undefined): boolean =>
  (pod.spec?.initContainers ?? []).some((container) => container.name === name && container.restartPolicy === 'Always')

/** True while an init container is still at work; then the reason says which. */
function initialize(pod: Pod, progress: Progress, sidecars: { restarts: number; lastRestartMs: number }): boolean {
  for (const [i, status] of (pod.status?.initContainerStatuses ?? []).entries()) {
    const { restartCount = 0, state = {} } = status
    progress.restarts += restartCount
    progress.lastRestartMs = Math.max(progress.lastRestartMs, endOf(status))
    const sidecar = isSidecar(pod, status.name)
    if (sidecar) {
      sidecars.restarts += restartCount
      sidecars.lastRestartMs = Math.max(sidecars.lastRestartMs, endOf(status))
    }
    if (state.terminated !== undefined && (state.terminated.exitCode ?? 0) === 0) continue
    if (sidecar && status.started === true) {
      if (status.ready === true) progress.ready++
      continue
    }
    const waiting = state.waiting?.reason ?? ''
    if (state.terminated !== undefined) progress.reason = `Init:${exitReason(state.terminated)}`
    else if (waiting !== '' && waiting !== 'PodInitializing') progress.reason = `Init:${waiting}`
    else progress.reason = `Init:${i}/${pod.spec?.initContainers?.length ?? 0}`
    return true
  }
  return false
}

function run(pod: Pod, progress: Progress, sidecars: { restarts: number; lastRestartMs: number }): void {
  progress.restarts = sidecars.restarts
  progress.lastRestartMs = sidecars.lastRestartMs
  let running = false
  for (const status of [...(pod.status?.containerStatuses ?? [])].reverse()) {
    const { state = {} } = status
    progress.restarts += status.restartCount ?? 0
    progress.lastRestartMs = Math.max(progress.lastRestartMs, endOf(status))
    if ((state.waiting?.reason ?? '') !== '') progress.reason = state.waiting!.reason!
    else if (state.terminated !== undefined) progress.reason = exitReason(state.terminated)
    else if (status.ready === true && state.running !== undefined) {
      running = true
      progress.ready++
    }
  }
  if (progress.reason === 'Completed' && running) progress.reason = isTrue(pod, 'Ready') ? 'Running' : 'NotReady'
}

const orNone = (text: string | undefined): string => text || '<none>'

function gatesOf(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  return `${gates.filter(({ conditionType = '' }) => isTrue(pod, conditionType)).length}/${gates.length}`
}

export const podTable: TableRules<Pod> = {
  columns: [
    NAME_COLUMN,
    { name: 'Ready', type: 'string', description: 'How many of the containers are ready.' },
    { name: 'Status', type: 'string', description: 'How far the pod has come, or what keeps it.' },
    { name: 'Restarts', type: 'string', description: 'How often containers were restarted, and when last.' },
    AGE_COLUMN,
    { name: 'IP', type: 'string', description: 'The address of the pod.', priority: 1 },
    { name: 'Node', type: 'string', description: 'The node that runs it.', priority: 1 },
    {
      name: 'Nominated Node',
      type: 'string',
      description: 'The node on which room is being made for it.',
      priority: 1,
    },
    {
      name: 'Readiness Gates',
      type: 'string',
      description: 'How many of its readiness gates are passed.',
      priority: 1,
    },
  ],
  cells: (pod: Pod, nowMs) => {
    const { spec = {}, status = {} } = pod
    const { ready, reason, restarts, lastRestartMs } = progressOf(pod)
    const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').length
    const ago = restarts > 0 && lastRestartMs > 0 ? ` (${humanDuration(nowMs - lastRestartMs)} ago)` : ''
    return [
      pod.metadata?.name ?? '',
      `${ready}/${(spec.containers ?? []).length + sidecars}`,
      reason,
      `${restarts}${ago}`,
      ageOf(pod, nowMs),
      orNone(status.podIPs?.[0]?.ip),
      orNone(spec.nodeName),
      orNone(status.nominatedNodeName),
      gatesOf(pod),
    ]
  },
}

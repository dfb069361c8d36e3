/** Thread: pool. Pods: pending until somebody runs them; little of their spec changes after that. */

import { FieldPath } from '../../../api/field-error.js'
import type { Pod, PodStatus } from '../../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../../api/object.js'
import { ipWarnings } from '../../../api/validation/addresses.js'
import { isDns1123Label } from '../../../api/validation/names.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import type { DeleteOptions, RequestContext } from '../../generic/strategy.js'
import { mergeAffinityKeys, mergeLabelKeys } from '../pod-template/affinity.js'
import { APP_ARMOR, appArmorProfileOf } from '../pod-template/annotations.js'
import { equalButEmptyLists } from '../pod-template/checks.js'
import { setPodDefaults, setPodSpecDefaults } from '../pod-template/pod-defaults.js'
import { qosClass, setPodLevelDefaults } from '../pod-template/pod-resources.js'
import { allContainers } from '../pod-template/pod-spec.js'
import { podWarnings } from '../pod-template/warnings.js'
import { ephemeralContainersRules } from './ephemeral-containers.js'
import { resizeRules } from './resize.js'
import { podStatusErrors } from './status-validation.js'
import { podTable } from './table.js'
import { podCreateErrors, podUpdateErrors } from './validation.js'

function setDefaults(pod: Pod): void {
  pod.spec ??= {}
  setPodDefaults(pod.spec)
  setPodSpecDefaults(pod.spec)
  setAddressDefaults(pod.status ?? {})
}

/** podIP and podIPs say the same, whichever was given; podIP wins. */
function setAddressDefaults(status: PodStatus): void {
  const [single, list] = [status.podIP ?? '', status.podIPs ?? []]
  if (single !== '' && list[0]?.ip !== single) status.podIPs = [{ ip: single }]
  else if (single === '' && list.length > 0) status.podIP = list[0]!.ip ?? ''
}

function prepareForCreate(pod: Pod, context: RequestContext): void {
  pod.spec ??= {}
  const { spec } = pod
  const labels = metadataOf(pod).labels ?? {}
  pod.status = { phase: 'Pending' }
  if ((spec.schedulingGates ?? []).length > 0) {
    const lastTransitionTime = `${new Date(context.now()).toISOString().slice(0, 19)}Z`
    pod.status.conditions = [
      {
        type: 'PodScheduled',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime,
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
      },
    ]
  }
  mergeAffinityKeys(spec.affinity, labels)
  for (const { labelSelector, matchLabelKeys = [] } of spec.topologySpreadConstraints ?? [])
    mergeLabelKeys(labelSelector, matchLabelKeys, 'In', labels)
  applyAppArmorAnnotations(pod, context)
  setPodLevelDefaults(spec)
  pod.status.qosClass = qosClass(spec)
}

/** The annotations of old become the field that took their place. */
function applyAppArmorAnnotations(pod: Pod, context: RequestContext): void {
  const spec = pod.spec ?? {}
  if (spec.os?.name === 'windows') return
  for (const { container } of allContainers(spec)) {
    const key = `${APP_ARMOR}${container.name ?? ''}`
    const annotation = pod.metadata?.annotations?.[key]
    if (annotation === undefined || container.securityContext?.appArmorProfile !== undefined) continue
    const profile = appArmorProfileOf(annotation)
    if (profile !== undefined && equalButEmptyLists(profile, spec.securityContext?.appArmorProfile)) continue
    if (profile !== undefined) container.securityContext = { ...container.securityContext, appArmorProfile: profile }
    const at = FieldPath.of('metadata', 'annotations').key(key)
    context.addWarning(`${at}: deprecated since v1.30; use the "appArmorProfile" field instead`)
  }
}

function prepareForUpdate(object: Pod, old: Pod): void {
  const [pod, oldPod] = [object, old]
  if (pod.spec?.resources === undefined && oldPod.spec?.resources !== undefined)
    pod.spec = { ...pod.spec, resources: structuredClone(oldPod.spec.resources) }
}

function prepareStatusForUpdate(object: Pod, old: Pod): void {
  const [pod, oldPod] = [object, old]
  const [metadata, oldMetadata] = [metadataOf(pod), metadataOf(oldPod)]
  delete metadata.deletionTimestamp
  if (oldMetadata.ownerReferences === undefined) delete metadata.ownerReferences
  else metadata.ownerReferences = oldMetadata.ownerReferences
  pod.status ??= {}
  const [status, before] = [pod.status, oldPod.status ?? {}]
  for (const field of [
    'qosClass',
    'resourceClaimStatuses',
    'extendedResourceClaimStatus',
    'observedGeneration',
  ] as const)
    if (!status[field] && before[field] !== undefined) status[field] = before[field] as never
  const generations = new Map(
    (before.conditions ?? []).map(({ type, observedGeneration }) => [type, observedGeneration]),
  )
  for (const condition of status.conditions ?? []) {
    const generation = generations.get(condition.type)
    if (!condition.observedGeneration && generation) condition.observedGeneration = generation
  }
}

/** Nothing runs before a node has it nor after it has ended: then there is nothing to wait for. */
function checkGracefulDelete(object: Pod, options: DeleteOptions): boolean {
  const { spec = {}, status = {} } = object
  const asked = options.gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 0
  const over = status.phase === 'Failed' || status.phase === 'Succeeded'
  const seconds = (spec.nodeName ?? '') === '' || over ? 0 : asked
  options.gracePeriodSeconds = seconds < 0 ? 1 : seconds
  return true
}

export const podRules: ResourceRules<Pod> = {
  podSpecAt: ['spec'],
  generationFields: ['spec'],
  setDefaults,
  prepareForCreate,
  prepareForUpdate,
  validate: podCreateErrors,
  validateUpdate: podUpdateErrors,
  warningsOnCreate: (pod) => {
    const surprising = isDns1123Label(pod.metadata?.name ?? '').length > 0
    return [
      ...(surprising
        ? ['metadata.name: this becomes the hostname of the pod, for which a DNS label is recommended']
        : []),
      ...podWarnings(pod.spec ?? {}, pod.metadata),
    ]
  },
  status: {
    resetFields: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
    prepareForUpdate: prepareStatusForUpdate,
    validateUpdate: podStatusErrors,
    warningsOnUpdate: (object) =>
      (['podIPs', 'hostIPs'] as const).flatMap((list) =>
        (object.status?.[list] ?? []).flatMap(({ ip = '' }, i) =>
          ipWarnings(ip, FieldPath.of('status', list).index(i).child('ip')),
        ),
      ),
  },
  subresources: { ephemeralcontainers: ephemeralContainersRules, resize: resizeRules },
  checkGracefulDelete,
  returnDeletedObject: true,
  table: podTable,
}

/** Thread: controllers. A claim that is deleted while pods use it stays until the last of them is gone. */
import type { PersistentVolumeClaim, Pod } from '../api/generated/kinds/core.v1.js'
import { keepFinalizer } from './finalizer-keeper.js'
import type { Controller } from './framework/controller.js'
import type { SeenObject } from './framework/seen-object.js'

const CLAIMED = Buffer.from('"persistentVolumeClaim"')
const EPHEMERAL = Buffer.from('"ephemeral"')

export const persistentVolumeClaimProtection: Controller = {
  name: 'persistentvolumeclaim-protection-controller',
  account: 'pvc-protection-controller',
  requires: ['persistentvolumeclaims', 'pods'],
  start(context) {
    const pods = context.resource('pods')
    const work = keepFinalizer({
      context,
      resource: context.resource('persistentvolumeclaims'),
      finalizer: 'kubernetes.io/pvc-protection',
      isUsed: async (claim) => {
        let isUsed = false
        await context.objects.visitLive(pods, claim.metadata?.namespace ?? '', (seen) => {
          isUsed ||= hasClaims(seen) && uses(seen.read<Pod>(), claim)
        })
        return isUsed
      },
    })
    const look = (seen: SeenObject): void => {
      if (!hasClaims(seen)) return
      for (const name of claimNames(seen.read<Pod>())) work.add(`${seen.namespace}/${name}`)
    }
    context.follow(pods, {
      onPut: (seen, previous) => {
        // A pod of the same name in place of another may hide that the other one is gone.
        if (previous !== undefined && previous.uid !== seen.uid) look(previous)
        const { phase } = hasClaims(seen) ? (seen.read<Pod>().status ?? {}) : {}
        if (phase === 'Succeeded' || phase === 'Failed' || seen.field('spec.nodeName') === '') look(seen)
      },
      onDelete: look,
    })
  },
}

const hasClaims = (pod: SeenObject): boolean => pod.mentions(CLAIMED) || pod.mentions(EPHEMERAL)

/** The claim that is made for an ephemeral volume has the names of the pod and of the volume. */
const ephemeralName = ({ metadata }: Pod, volume: string): string => `${metadata?.name}-${volume}`

function claimNames(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name = '', persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName ?? '']
    return ephemeral === undefined ? [] : [ephemeralName(pod, name)]
  })
}

/** Pods that no node has got yet cannot start with a claim that is being deleted: they do not count. */
function uses(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  if ((pod.spec?.nodeName ?? '') === '') return false
  return (pod.spec?.volumes ?? []).some(({ name = '', persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName === metadata?.name
    if (ephemeral === undefined || isShutDown(pod) || ephemeralName(pod, name) !== metadata?.name) return false
    return (metadata?.ownerReferences ?? []).some(
      ({ uid, controller }) => controller === true && uid === pod.metadata?.uid,
    )
  })
}

/** The kubelet is done with the pod, or somebody forced its deletion. */
const isShutDown = ({ metadata }: Pod): boolean =>
  metadata?.deletionTimestamp !== undefined && Number(metadata.deletionGracePeriodSeconds ?? -1) === 0

/** Thread: pool. Pods stay five minutes on a node that is not ready or not reachable, unless they say otherwise. */
import type { Pod, Toleration } from '../../api/generated/kinds/core.v1.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'

const TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const TOLERATION_SECONDS = 300

export class DefaultTolerationSeconds implements AdmissionPlugin<Pod> {
  readonly name = 'DefaultTolerationSeconds'

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    return (
      (operation === 'CREATE' || operation === 'UPDATE') &&
      resource.group === '' &&
      resource.resource === 'pods' &&
      subresource === ''
    )
  }

  admit({ object }: AdmissionAttributes<Pod>): void {
    const spec = object?.spec
    if (spec === undefined) return
    const given = spec.tolerations ?? []
    const missing = TAINTS.filter((taint) => !given.some((toleration) => tolerates(toleration, taint)))
    if (missing.length === 0) return
    spec.tolerations = [
      ...given,
      ...missing.map((key) => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: TOLERATION_SECONDS,
      })),
    ]
  }
}

/** A toleration without a key tolerates all taints, one without an effect all effects. */
function tolerates({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '')
}

/** Thread: pool. Pods stay for some minutes on a node that is not ready or not reachable, unless they say otherwise. */
import type { Pod, Toleration } from '../../api/generated/kinds/core.v1.js'
import type { TolerationSeconds } from '../../protocol/pool-start.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'

const TAINTS = {
  'node.kubernetes.io/not-ready': 'notReady',
  'node.kubernetes.io/unreachable': 'unreachable',
} as const satisfies Record<string, keyof TolerationSeconds>

export class DefaultTolerationSeconds implements AdmissionPlugin<Pod> {
  readonly name = 'DefaultTolerationSeconds'
  readonly #seconds: TolerationSeconds

  constructor(seconds: TolerationSeconds) {
    this.#seconds = seconds
  }

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
    const missing = Object.entries(TAINTS).filter(
      ([taint]) => !given.some((toleration) => tolerates(toleration, taint)),
    )
    if (missing.length === 0) return
    spec.tolerations = [
      ...given,
      ...missing.map(([key, which]) => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: this.#seconds[which],
      })),
    ]
  }
}

/** A toleration without a key tolerates all taints, one without an effect all effects. */
function tolerates({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '')
}

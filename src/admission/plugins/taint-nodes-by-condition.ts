/**
 * Thread: pool. A new node is tainted as not ready; the controller that watches its conditions takes the taint away.
 */
import type { Node } from '../../api/generated/kinds/core.v1.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { isAbout } from '../forbid.js'

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

export class TaintNodesByCondition implements AdmissionPlugin<Node> {
  readonly name = 'TaintNodesByCondition'

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, '', 'nodes', 'CREATE')
  }

  admit({ object }: AdmissionAttributes<Node>): void {
    if (object === undefined) return
    const spec = object.spec ?? {}
    object.spec = spec
    const taints = spec.taints ?? []
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return
    spec.taints = [...taints, { ...NOT_READY }]
  }
}

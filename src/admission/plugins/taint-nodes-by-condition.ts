/** Thread: pool. A node begins tainted as not ready; who watches its conditions takes the taint away. */
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { isAbout } from '../forbid.js'

interface Taint {
  key?: string
  value?: string
  effect?: string
}

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

export class TaintNodesByCondition implements AdmissionPlugin {
  readonly name = 'TaintNodesByCondition'

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, '', 'nodes', 'CREATE')
  }

  admit({ object }: AdmissionAttributes): void {
    if (object === undefined) return
    const spec = (object['spec'] ?? {}) as { taints?: Taint[] }
    object['spec'] = spec
    const taints = spec.taints ?? []
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return
    spec.taints = [...taints, { ...NOT_READY }]
  }
}

/** Thread: pool. A pod may keep others off its host, but not off a zone or the whole cluster. */
import type { Pod } from '../../api/generated/kinds/core.v1.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid, isAbout } from '../forbid.js'

const HOSTNAME = 'kubernetes.io/hostname'

export class LimitPodHardAntiAffinityTopology implements AdmissionPlugin<Pod> {
  readonly name = 'LimitPodHardAntiAffinityTopology'

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, '', 'pods', 'CREATE', 'UPDATE')
  }

  validate(attributes: AdmissionAttributes<Pod>): void {
    const { podAntiAffinity } = attributes.object?.spec?.affinity ?? {}
    for (const { topologyKey } of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
      if (topologyKey !== HOSTNAME) {
        throw forbid(
          attributes,
          `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${topologyKey} but only key ${HOSTNAME} is allowed`,
        )
      }
    }
  }
}

/** Thread: pool. Pods that ask for an extended resource tolerate the taint of the same name. */
import type { Pod, Toleration } from '../../api/generated/kinds/core.v1.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { isAbout } from '../forbid.js'

export class ExtendedResourceToleration implements AdmissionPlugin<Pod> {
  readonly name = 'ExtendedResourceToleration'

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, '', 'pods', 'CREATE', 'UPDATE')
  }

  admit({ object }: AdmissionAttributes<Pod>): void {
    const spec = object?.spec
    if (spec === undefined) return
    const wanted = new Set<string>()
    for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
      for (const name of Object.keys(resources?.requests ?? {})) if (isExtended(name)) wanted.add(name)
    }
    for (const { key, operator, effect } of spec.tolerations ?? [])
      if (key !== undefined && operator === 'Exists' && effect === 'NoSchedule') wanted.delete(key)
    if (wanted.size === 0) return
    const added = [...wanted].sort().map((key): Toleration => ({ key, operator: 'Exists', effect: 'NoSchedule' }))
    spec.tolerations = [...(spec.tolerations ?? []), ...added]
  }
}

/** Whether a resource has a domain that is not Kubernetes' own. */
export const isExtended = (name: string): boolean =>
  name.includes('/') && !/(^|\.)kubernetes\.io\//.test(name) && !name.startsWith('requests.')

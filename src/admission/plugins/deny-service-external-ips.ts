/** Thread: pool. Services may not bring external addresses they did not have: whoever may would take traffic of others. */
import type { KubeObject } from '../../api/object.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid, isAbout } from '../forbid.js'

const addresses = (service: KubeObject | undefined): string[] =>
  (service?.['spec'] as { externalIPs?: string[] } | undefined)?.externalIPs ?? []

export class DenyServiceExternalIPs implements AdmissionPlugin {
  readonly name = 'DenyServiceExternalIPs'

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, '', 'services', 'CREATE', 'UPDATE')
  }

  validate(attributes: AdmissionAttributes): void {
    const before = new Set(addresses(attributes.oldObject))
    if (addresses(attributes.object).every((address) => before.has(address))) return
    throw forbid(attributes, 'Use of external IPs is denied by admission control.')
  }
}

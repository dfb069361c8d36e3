/** Thread: pool. Services may not bring external addresses they did not have: whoever may would take traffic of others. */
import type { Service } from '../../api/generated/kinds/core.v1.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid, isAbout } from '../forbid.js'

const addresses = (service: Service | undefined): string[] => service?.spec?.externalIPs ?? []

export class DenyServiceExternalIPs implements AdmissionPlugin<Service> {
  readonly name = 'DenyServiceExternalIPs'

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, '', 'services', 'CREATE', 'UPDATE')
  }

  validate(attributes: AdmissionAttributes<Service>): void {
    const before = new Set(addresses(attributes.oldObject))
    if (addresses(attributes.object).every((address) => before.has(address))) return
    throw forbid(attributes, 'Use of external IPs is denied by admission control.')
  }
}

/** Thread: pool. The ranges that cluster IPs come from, as the stored ServiceCIDRs say. */

import type { ServiceCIDR } from '../../../api/generated/kinds/networking.v1.js'
import { IPRange } from '../../../api/network/ip-range.js'
import type { KubeObject } from '../../../api/object.js'
import { parseCidr } from '../../../api/validation/addresses.js'
import type { Storage } from '../../../storage/contract/interface.js'
import type { ServiceRanges } from '../../core/services/allocator/cluster-ip-allocator.js'
import { listAll } from '../../generic/list-all.js'
import { isReady } from './service-cidr.js'

export class StoredServiceRanges implements ServiceRanges {
  readonly #storage: Storage<KubeObject>
  readonly #keyRoot: string

  constructor(storage: Storage<KubeObject>, keyRoot: string) {
    this.#storage = storage
    this.#keyRoot = keyRoot
  }

  async ready(newest: boolean): Promise<readonly IPRange[]> {
    return rangesOf((await this.#list(newest)).filter(isReady))
  }

  /** Also of those that are not ready: their addresses may still be in use. */
  async all(): Promise<readonly IPRange[]> {
    return rangesOf(await this.#list(true))
  }

  async #list(newest: boolean): Promise<ServiceCIDR[]> {
    return listAll(this.#storage, this.#keyRoot, { newest })
  }
}

/** Several objects may name one range. */
function rangesOf(objects: readonly ServiceCIDR[]): IPRange[] {
  const texts = new Set(objects.flatMap(({ spec }) => spec?.cidrs ?? []))
  return [...texts].flatMap((text) => {
    const cidr = parseCidr(text)
    return cidr === undefined ? [] : [new IPRange(cidr)]
  })
}

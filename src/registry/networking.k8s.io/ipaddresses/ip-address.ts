/** Thread: pool. The shape of IPAddresses, and those that the server makes for cluster IPs. */

import { randomUUID } from 'node:crypto'
import type { IPAddress } from '../../../api/generated/kinds/networking.v1.js'
import type { JsonObject } from '../../../api/object.js'
import { ipFamilyOf } from '../../../api/validation/addresses.js'
import { formatTime } from '../../generic/system-fields.js'

const FAMILY_LABEL = 'ipaddress.kubernetes.io/ip-family'
const MANAGED_BY_LABEL = 'ipaddress.kubernetes.io/managed-by'
const ALLOCATOR = 'ipallocator.k8s.io'

export const isAllocated = ({ metadata }: IPAddress): boolean => metadata?.labels?.[MANAGED_BY_LABEL] === ALLOCATOR

/** Made by the allocator and not changed by anybody since. */
export const hasRightLabels = (address: IPAddress): boolean =>
  isAllocated(address) && address.metadata?.labels?.[FAMILY_LABEL] === ipFamilyOf(address.metadata?.name ?? '')

/** Always the same fields, so what the server owns of them is written once. */
const OWNED_FIELDS: JsonObject = {
  'f:metadata': { 'f:labels': { '.': {}, [`f:${FAMILY_LABEL}`]: {}, [`f:${MANAGED_BY_LABEL}`]: {} } },
  'f:spec': { 'f:parentRef': { 'f:name': {}, 'f:namespace': {}, 'f:resource': {} } },
}

export function addressOfService(
  name: string,
  service: { readonly namespace: string; readonly name: string },
  nowMs: number,
): IPAddress {
  const time = formatTime(nowMs)
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: {
      name,
      uid: randomUUID(),
      creationTimestamp: time,
      labels: { [FAMILY_LABEL]: ipFamilyOf(name) ?? '', [MANAGED_BY_LABEL]: ALLOCATOR },
      managedFields: [
        {
          manager: 'kube-apiserver',
          operation: 'Update',
          apiVersion: 'networking.k8s.io/v1',
          time,
          fieldsType: 'FieldsV1',
          fieldsV1: OWNED_FIELDS,
        },
      ],
    },
    spec: { parentRef: { resource: 'services', namespace: service.namespace, name: service.name } },
  }
}

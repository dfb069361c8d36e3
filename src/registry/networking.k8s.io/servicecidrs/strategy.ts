/** Thread: pool. ServiceCIDRs: the ranges that cluster IPs come from, one of each family at most. */

import { FieldPath, invalid, required } from '../../../api/field-error.js'
import type { ServiceCIDR } from '../../../api/generated/kinds/networking.v1.js'
import { parseCidr, strictCidr } from '../../../api/validation/addresses.js'
import { type Errors, each } from '../../../api/validation/checks.js'
import { IMMUTABLE } from '../../../api/validation/object-meta.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { keepMetadata } from '../../generic/rules-strategy.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

const CIDRS = FieldPath.of('spec', 'cidrs')
const cidrsOf = (object: ServiceCIDR): readonly string[] => object.spec?.cidrs ?? []

function validate(object: ServiceCIDR): Errors {
  const cidrs = cidrsOf(object)
  if (cidrs.length === 0) return [required(CIDRS, 'at least one CIDR required')]
  if (cidrs.length > 2) return [invalid(CIDRS, cidrs, 'may only hold up to 2 values')]
  const families = cidrs.map((cidr) => parseCidr(cidr)?.address.bits)
  return [
    ...each(cidrs, CIDRS, strictCidr),
    ...(families.length === 2 && families[0] !== undefined && families[0] === families[1]
      ? [invalid(CIDRS, cidrs, 'may specify no more than one range of each IP family')]
      : []),
  ]
}

/** A single range may get a second one of the other family; nothing else changes. */
function validateUpdate(object: ServiceCIDR, old: ServiceCIDR): Errors {
  const [now, before] = [cidrsOf(object), cidrsOf(old)]
  const kept = before.flatMap((cidr, i) => (now[i] === cidr ? [] : [invalid(CIDRS.index(i), now[i] ?? '', IMMUTABLE)]))
  if (now.length === before.length) return kept
  if (before.length === 1 && now.length === 2) return [...kept, ...validate(object)]
  return [invalid(CIDRS, now, IMMUTABLE)]
}

export const serviceCidrRules: ResourceRules<ServiceCIDR> = {
  metadataOnUpdate: 'changes',
  validate,
  validateUpdate,
  status: { resetFields: [['metadata'], ['spec']], prepareForUpdate: keepMetadata },
  table: tableOf<ServiceCIDR>(
    text('CIDRs', 'The ranges.', (object) => cidrsOf(object).join(',')),
    age(),
  ),
}

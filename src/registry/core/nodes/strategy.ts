/** Thread: pool. Nodes: who they are is said once, what they can do is said by them. */

import { duplicate, FieldPath, forbidden, internal, invalid } from '../../../api/field-error.js'
import type { Node, Taint } from '../../../api/generated/kinds/core.v1.js'
import { cidrWarnings, legacyCidr, parseCidr } from '../../../api/validation/addresses.js'
import { type Errors, each, type List, oneOf, positive, qualifiedName } from '../../../api/validation/checks.js'
import { isValidLabelValue } from '../../../api/validation/names.js'
import { TAINT_EFFECTS } from '../../../api/validation/node-selectors.js'
import { resourceQuantity } from '../../../api/validation/quantities.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { statusMetadataErrors } from '../pod-template/workload.js'
import { nodeTable } from './table.js'

const SPEC = FieldPath.of('spec')
const STATUS = FieldPath.of('status')
const POD_CIDRS = SPEC.child('podCIDRs')
const FEATURE = /^[A-Z][A-Za-z0-9]*(\/[A-Za-z][A-Za-z0-9]*)*$/
const FEATURE_BYTES = 253

/** podCIDR is the first of podCIDRs; where they differ, the older field is right. */
function setDefaults(object: Node): void {
  const { spec, status } = object
  if (spec !== undefined) {
    const { podCIDR = '', podCIDRs } = spec
    if (podCIDR !== '' && podCIDRs?.[0] !== podCIDR) spec.podCIDRs = [podCIDR]
    else if (podCIDR === '' && podCIDRs?.[0] !== undefined) spec.podCIDR = podCIDRs[0]
  }
  if (status?.capacity !== undefined) status.allocatable ??= { ...status.capacity }
}

function taintErrors(taints: List<Taint>): Errors {
  const seen = new Set<string>()
  return each(taints, FieldPath.of('metadata', 'taints'), (taint, at) => {
    const { key = '', value = '', effect = '' } = taint
    const errors = qualifiedName(key, at.child('key'))
    const reasons = isValidLabelValue(value)
    if (reasons.length > 0) errors.push(invalid(at.child('value'), value, reasons.join(';')))
    errors.push(...oneOf(effect, TAINT_EFFECTS, at.child('effect'), 'required'))
    const id = JSON.stringify([key, effect])
    if (seen.has(id)) errors.push(duplicate(at, taint))
    seen.add(id)
    return errors
  })
}

function resourceErrors({ status }: Node): Errors {
  return (['capacity', 'allocatable'] as const).flatMap((field) =>
    Object.entries(status?.[field] ?? {}).flatMap(([name, amount]) =>
      resourceQuantity(name, amount, STATUS.child(field, name)),
    ),
  )
}

/** Sorted, each once, each a name in upper camel case and perhaps others below it. */
function featureErrors({ status }: Node): Errors {
  const features = status?.declaredFeatures ?? []
  return each(features, STATUS.child('declaredFeatures'), (feature, at, i) => {
    const named = FEATURE.test(feature) && feature.length <= FEATURE_BYTES
    const errors = named ? [] : [invalid(at, feature, 'not a feature name')]
    const before = i > 0 ? features[i - 1]! : undefined
    if (before === feature) errors.push(duplicate(at, feature))
    else if (before !== undefined && before > feature) errors.push(invalid(at, feature, 'list must be sorted'))
    return errors
  })
}

function podCidrErrors({ spec }: Node): Errors {
  const cidrs = spec?.podCIDRs ?? []
  const errors = each(cidrs, POD_CIDRS, (cidr, at) => legacyCidr(cidr, at))
  if (cidrs.length < 2) return errors
  const parsed = cidrs.map(parseCidr)
  if (parsed.some((cidr) => cidr === undefined)) errors.push(internal(POD_CIDRS, 'a range cannot be read'))
  const families = new Set(parsed.map((cidr) => cidr?.address.bits))
  if (parsed.some((cidr) => cidr === undefined) || families.size < 2 || cidrs.length > 2)
    errors.push(invalid(POD_CIDRS, cidrs, 'may specify no more than one CIDR for each IP family'))
  return errors
}

function validate(node: Node): Errors {
  const swap = node.status?.nodeInfo?.swap?.capacity
  return [
    ...taintErrors(node.spec?.taints),
    ...resourceErrors(node),
    ...(swap === undefined ? [] : positive(swap, FieldPath.of('metadata', 'nodeSwapStatus', 'capacity'))),
    ...featureErrors(node),
    ...podCidrErrors(node),
  ]
}

/** Of an update of the node and of its status alike. */
function changeErrors(object: Node, old: Node): Errors {
  const [node, before] = [object, old]
  const errors = [...resourceErrors(node), ...featureErrors(node), ...taintErrors(node.spec?.taints)]
  const addresses = new Set<string>()
  for (const [i, { type = '', address = '' }] of (node.status?.addresses ?? []).entries()) {
    const id = JSON.stringify([type, address])
    if (addresses.has(id)) errors.push(duplicate(STATUS.child('addresses').index(i), address))
    addresses.add(id)
  }
  const [now, was] = [node.spec?.podCIDRs ?? [], before.spec?.podCIDRs ?? []]
  const fixed = 'may not change once it is set'
  if (was.length > 0 && now.length !== was.length) errors.push(forbidden(POD_CIDRS, fixed))
  else for (const [i, cidr] of was.entries()) if (now[i] !== cidr) errors.push(forbidden(POD_CIDRS, fixed))
  const provider = before.spec?.providerID ?? ''
  if (provider !== '' && provider !== (node.spec?.providerID ?? ''))
    errors.push(forbidden(SPEC.child('providerID'), fixed))
  if ((node.spec?.externalID ?? '') !== (before.spec?.externalID ?? ''))
    errors.push(forbidden(SPEC.child('externalID'), 'may not be updated'))
  return errors
}

function warnings(object: Node): string[] {
  const { spec } = object
  return [
    ...(spec?.configSource ? ['spec.configSource: the feature is removed'] : []),
    ...((spec?.externalID ?? '') === ''
      ? []
      : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
    ...(spec?.podCIDRs ?? []).flatMap((cidr, i) => cidrWarnings(cidr, POD_CIDRS.index(i))),
  ]
}

export const nodeRules: ResourceRules<Node> = {
  statusOnCreate: true,
  setDefaults,
  prepareForCreate: (object) => {
    const { spec, status } = object
    delete spec?.configSource
    delete status?.config
  },
  prepareForUpdate: (object, old) => {
    if (!old.spec?.configSource) delete object.spec?.configSource
  },
  validate,
  validateUpdate: (object, old) => [...validate(object), ...changeErrors(object, old)],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  status: {
    prepareForUpdate: (object, old) => {
      if (!old.status?.config) delete object.status?.config
    },
    validateUpdate: (object, old) => [...statusMetadataErrors(object, old), ...changeErrors(object, old)],
  },
  table: nodeTable,
}

/** Thread: any. The rules of cluster IPs and their families: alone, and from one state to the next. */

import { duplicate, FieldPath, invalid, required } from '../../../api/field-error.js'
import type { ServiceSpec } from '../../../api/generated/kinds/core.v1.js'
import { ipFamilyOf, legacyIP } from '../../../api/validation/addresses.js'
import { type Errors, oneOf } from '../../../api/validation/checks.js'
import { CLUSTER_IP_NONE, isHeadless, needsClusterIP } from './service.js'

const SPEC = FieldPath.of('spec')
const IPS = SPEC.child('clusterIPs')
const FAMILIES = SPEC.child('ipFamilies')
const POLICY = SPEC.child('ipFamilyPolicy')

/** Also what allocation checks before it gives anything out. */
export function clusterIPErrors(spec: ServiceSpec, old?: ServiceSpec): Errors {
  if (!needsClusterIP(spec)) return []
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec
  const errors: Errors = []
  if (clusterIP !== '') {
    if (clusterIPs.length === 0) errors.push(required(IPS))
    else if (clusterIPs[0] !== clusterIP) errors.push(invalid(IPS, clusterIPs, 'first value must match `clusterIP`'))
  } else if (clusterIPs.length > 0)
    errors.push(invalid(IPS, clusterIPs, 'must be empty when `clusterIP` is not specified'))
  const seen = new Set<string>()
  for (const [i, family] of ipFamilies.entries()) {
    errors.push(...oneOf(family, ['IPv4', 'IPv6'], FAMILIES.index(i)))
    if (seen.has(family)) errors.push(duplicate(FAMILIES.index(i), family))
    seen.add(family)
  }
  if (ipFamilyPolicy !== undefined)
    errors.push(...oneOf(ipFamilyPolicy, ['SingleStack', 'PreferDualStack', 'RequireDualStack'], POLICY))
  const wrong = addressErrors(clusterIPs, old)
  errors.push(...wrong)
  if (clusterIPs.length > 2) errors.push(invalid(IPS, clusterIPs, 'may only hold up to 2 values'))
  if (wrong.length > 0) return errors
  const families = clusterIPs.map(ipFamilyOf)
  if (clusterIPs.length > 1 && new Set(families).size < clusterIPs.length)
    errors.push(invalid(IPS, clusterIPs, 'may specify no more than one IP for each IP family'))
  if (isHeadless(spec)) return errors
  for (const [i, family] of families.entries())
    if (ipFamilies[i] !== undefined && ['IPv4', 'IPv6'].includes(ipFamilies[i]) && ipFamilies[i] !== family)
      errors.push(
        invalid(IPS.index(i), clusterIPs[i], `expected an ${ipFamilies[i]} value as indicated by \`ipFamilies[${i}]\``),
      )
  return errors
}

function addressErrors(clusterIPs: readonly string[], old: ServiceSpec | undefined): Errors {
  const known = new Set(old?.clusterIPs)
  return clusterIPs.flatMap((ip, i) => {
    if (i > 0 || ip !== CLUSTER_IP_NONE) return legacyIP(ip, IPS.index(i), known)
    return clusterIPs.length > 1 ? [invalid(IPS, clusterIPs, "'None' must be the first and only value")] : []
  })
}

/** The first address stays; a second one may come and go. */
export function clusterIPUpdateErrors(spec: ServiceSpec, old: ServiceSpec): Errors {
  if (!needsClusterIP(spec) || !needsClusterIP(old)) return []
  const [headless, wasHeadless] = [isHeadless(spec), isHeadless(old)]
  return [
    ...(headless && wasHeadless ? [] : addressChangeErrors(spec, old)),
    ...(headless || wasHeadless ? [] : familyChangeErrors(spec, old)),
  ]
}

function addressChangeErrors(spec: ServiceSpec, old: ServiceSpec): Errors {
  const [now, before] = [spec.clusterIPs ?? [], old.clusterIPs ?? []]
  const changed = (i: number) => invalid(IPS.index(i), now, 'may not change once set')
  if (now.length === before.length) return before.flatMap((ip, i) => (ip === now[i] ? [] : [changed(i)]))
  const errors: Errors = []
  if (now.length === 0) errors.push(invalid(IPS.index(0), now, 'primary clusterIP can not be unset'))
  else if (before.length > 0 && now[0] !== before[0]) errors.push(changed(0))
  if (now.length === 1 && before.length > 1 && spec.ipFamilyPolicy !== 'SingleStack')
    errors.push(
      invalid(
        POLICY,
        spec.ipFamilyPolicy ?? null,
        "must be set to 'SingleStack' when releasing the secondary clusterIP",
      ),
    )
  return errors
}

function familyChangeErrors(spec: ServiceSpec, old: ServiceSpec): Errors {
  const [now, before] = [spec.ipFamilies ?? [], old.ipFamilies ?? []]
  const changed = invalid(FAMILIES.index(0), now, 'may not change once set')
  if (now.length === before.length) return before.flatMap((family, i) => (family === now[i] ? [] : [changed]))
  const errors: Errors = []
  if (now.length < before.length && (spec.clusterIPs ?? []).length === 0)
    errors.push(invalid(FAMILIES.index(0), now, 'primary ipFamily can not be unset'))
  if (now.length > 0 && before.length > 0 && now[0] !== before[0]) errors.push(changed)
  if (now.length === 1 && before.length > 1 && spec.ipFamilyPolicy !== 'SingleStack')
    errors.push(
      invalid(
        POLICY,
        spec.ipFamilyPolicy ?? null,
        "must be set to 'SingleStack' when releasing the secondary ipFamily",
      ),
    )
  return errors
}

/** Thread: pool. The IP families of a service: what it asks for, what follows from its addresses, what this cluster has. */

import { type FieldError, FieldPath, invalid } from '../../../api/field-error.js'
import type { ServiceSpec } from '../../../api/generated/kinds/core.v1.js'
import { newInvalid } from '../../../api/status.js'
import { ipFamilyOf } from '../../../api/validation/addresses.js'
import { equalButEmptyLists } from '../pod-template/checks.js'
import { clusterIPErrors } from './cluster-ips.js'
import { CLUSTER_IP_NONE, needsClusterIP } from './service.js'

const SPEC = FieldPath.of('spec')
const POLICY = SPEC.child('ipFamilyPolicy')
const SINGLE = 'SingleStack'
const REQUIRE_DUAL = 'RequireDualStack'
const PREFER_DUAL = 'PreferDualStack'

export interface ClusterFamilies {
  /** Of the first service range. */
  readonly primary: string
  readonly all: readonly string[]
}

export const otherFamily = (family: string): string => (family === 'IPv4' ? 'IPv6' : 'IPv4')

const isSame = (a: readonly string[] = [], b: readonly string[] = []): boolean => equalButEmptyLists(a, b)

/** Nothing to do for a service that would take two families and has what it had. */
export function keepsPreferredFamilies(spec: ServiceSpec, old: ServiceSpec | undefined): boolean {
  if (old === undefined || spec.ipFamilyPolicy !== PREFER_DUAL || spec.type !== old.type || !needsClusterIP(spec))
    return false
  if (old.ipFamilyPolicy !== undefined && old.ipFamilyPolicy !== PREFER_DUAL) return false
  return isSame(old.clusterIPs, spec.clusterIPs) && isSame(old.ipFamilies, spec.ipFamilies)
}

/** Fills in ipFamilyPolicy and ipFamilies; throws Invalid for what cannot be had. */
export function initIPFamilyFields(
  name: string,
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  cluster: ClusterFamilies,
): void {
  if (!needsClusterIP(spec) || keepsPreferredFamilies(spec, old)) return
  const refuse = (errors: readonly FieldError[]): void => {
    if (errors.length > 0) throw newInvalid({ group: '', kind: 'Service' }, name, errors)
  }
  const headlessWithoutSelector = spec.clusterIP === CLUSTER_IP_NONE && Object.keys(spec.selector ?? {}).length === 0
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (headlessWithoutSelector ? REQUIRE_DUAL : SINGLE)
  refuse(clusterIPErrors(spec, old))
  refuse([
    ...(old === undefined ? [] : releaseSecondary(spec, old)),
    ...singleStackErrors(spec),
    ...familiesOfAddresses(spec, cluster),
  ])
  // Its pods may have whatever families they like: nothing is given out for it.
  if (headlessWithoutSelector) {
    addSecondary(spec, cluster.primary, true)
    return
  }
  refuse(unconfigured(spec, cluster))
  addSecondary(spec, cluster.primary, cluster.all.length === 2)
}

/** To one family again: the second address and family go, unless the client has changed them itself. */
function releaseSecondary(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec
  if (ipFamilyPolicy === SINGLE) {
    if (clusterIPs.length > 1 && isSame(old.clusterIPs, clusterIPs)) spec.clusterIPs = clusterIPs.slice(0, 1)
    if (ipFamilies.length > 1 && isSame(old.ipFamilies, ipFamilies)) spec.ipFamilies = ipFamilies.slice(0, 1)
    return []
  }
  const reduced = (now: readonly string[], before: readonly string[] = []): boolean =>
    now.length > 0 && now.length < before.length
  const must = (what: string) => invalid(POLICY, ipFamilyPolicy ?? null, `must be 'SingleStack' to release ${what}`)
  return [
    ...(reduced(clusterIPs, old.clusterIPs) ? [must('the secondary cluster IP')] : []),
    ...(reduced(ipFamilies, old.ipFamilies) ? [must('the secondary IP family')] : []),
  ]
}

function singleStackErrors({ clusterIPs = [], ipFamilies = [], ipFamilyPolicy }: ServiceSpec): FieldError[] {
  if (ipFamilyPolicy !== SINGLE) return []
  const must = (when: string) =>
    invalid(POLICY, ipFamilyPolicy, `must be 'RequireDualStack' or 'PreferDualStack' when ${when} are specified`)
  return [
    ...(clusterIPs.length === 2 ? [must('multiple cluster IPs')] : []),
    ...(ipFamilies.length === 2 ? [must('multiple IP families')] : []),
  ]
}

/** Addresses that were given say their families. */
function familiesOfAddresses(spec: ServiceSpec, cluster: ClusterFamilies): FieldError[] {
  const { clusterIPs = [] } = spec
  const errors: FieldError[] = []
  for (const [i, ip] of clusterIPs.entries()) {
    if (ip === CLUSTER_IP_NONE) break
    if (i < (spec.ipFamilies ?? []).length) continue
    const family = ipFamilyOf(ip) ?? 'unknown'
    if (cluster.all.includes(family)) spec.ipFamilies = [...(spec.ipFamilies ?? []), family]
    else
      errors.push(invalid(SPEC.child('clusterIPs').index(i), clusterIPs, `${family} is not configured on this cluster`))
  }
  return errors
}

function unconfigured({ ipFamilies = [], ipFamilyPolicy }: ServiceSpec, cluster: ClusterFamilies): FieldError[] {
  return [
    ...(ipFamilyPolicy === REQUIRE_DUAL && cluster.all.length < 2
      ? [invalid(POLICY, ipFamilyPolicy, 'this cluster is not configured for dual-stack services')]
      : []),
    ...ipFamilies.flatMap((family, i) =>
      cluster.all.includes(family)
        ? []
        : [invalid(SPEC.child('ipFamilies').index(i), family, 'not configured on this cluster')],
    ),
  ]
}

function addSecondary(spec: ServiceSpec, primary: string, available: boolean): void {
  if ((spec.ipFamilies ?? []).length === 0) spec.ipFamilies = [primary]
  const families = spec.ipFamilies!
  if (families.length === 1 && spec.ipFamilyPolicy !== SINGLE && available)
    spec.ipFamilies = [families[0]!, otherFamily(families[0]!)]
}

/** Thread: pool. Services: a name and an address for whatever pods a selector finds. */

import { FieldPath } from '../../../api/field-error.js'
import type { Service } from '../../../api/generated/kinds/core.v1.js'
import { cidrWarnings, ipWarnings } from '../../../api/validation/addresses.js'
import { dnsLabelName } from '../../../api/validation/names.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, commas, labelText, NONE, tableOf, text } from '../../generic/table-rules.js'
import { statusMetadataErrors } from '../pod-template/workload.js'
import { dropTypeDependentFields } from './allocated-values.js'
import { setServiceDefaults } from './defaults.js'
import { CLUSTER_IP_NONE } from './service.js'
import { serviceErrors, serviceStatusErrors, serviceUpdateErrors } from './validation.js'

const SPEC = FieldPath.of('spec')
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints'

function warnings(object: Service): string[] {
  const { metadata, spec = {} } = object
  const { clusterIPs = [], externalIPs = [], loadBalancerSourceRanges: ranges = [], type } = spec
  const headless = type === 'ClusterIP' && spec.clusterIP === CLUSTER_IP_NONE
  const said: string[] = []
  const say = (when: boolean, sentence: string): void => {
    if (when) said.push(sentence)
  }
  say(metadata?.annotations?.[TOPOLOGY_HINTS] !== undefined, `annotation ${TOPOLOGY_HINTS} is deprecated`)
  if ((spec.clusterIP ?? '') !== '' && !headless)
    said.push(...clusterIPs.flatMap((ip, i) => ipWarnings(ip, SPEC.child('clusterIPs').index(i))))
  say(headless && (spec.loadBalancerIP ?? '') !== '', 'spec.loadBalancerIP is ignored for headless services')
  say(headless && externalIPs.length > 0, 'spec.externalIPs is ignored for headless services')
  say(headless && spec.sessionAffinity !== 'None', 'spec.sessionAffinity is ignored for headless services')
  said.push(...externalIPs.flatMap((ip, i) => ipWarnings(ip, SPEC.child('externalIPs').index(i))))
  say(
    externalIPs.length > 0 && !headless && type !== 'ExternalName',
    'spec.externalIPs is deprecated: some clusters no longer route it',
  )
  if ((spec.loadBalancerIP ?? '') !== '') said.push(...ipWarnings(spec.loadBalancerIP!, SPEC.child('loadBalancerIP')))
  said.push(...ranges.flatMap((range, i) => cidrWarnings(range, SPEC.child('loadBalancerSourceRanges').index(i))))
  say(
    type === 'ExternalName' && externalIPs.length > 0,
    'spec.externalIPs is ignored for services of type ExternalName',
  )
  say(
    type !== 'ExternalName' && (spec.externalName ?? '') !== '',
    'spec.externalName is only for services of type ExternalName',
  )
  say(
    spec.trafficDistribution === 'PreferClose',
    'spec.trafficDistribution: PreferClose is deprecated; use PreferSameZone',
  )
  return said
}

function prepareForUpdate(service: Service, old: Service): void {
  const [spec, before] = [service.spec ?? {}, old.spec ?? {}]
  dropTypeDependentFields(spec, before)
  if (spec.type !== 'LoadBalancer' && service.status !== undefined)
    service.status = { ...service.status, loadBalancer: {} }
}

function externalIPText({ spec = {}, status }: Service): string {
  const { externalIPs = [], type, externalName = '' } = spec
  if (type === 'ClusterIP' || type === 'NodePort') return commas(externalIPs)
  if (type === 'ExternalName') return externalName
  if (type !== 'LoadBalancer') return '<unknown>'
  const ingress = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '')
  const points = [...new Set(ingress.filter((point) => point !== ''))].sort()
  const all = [...points, ...externalIPs]
  return all.length === 0 ? '<pending>' : all.join(',')
}

export const serviceRules: ResourceRules<Service> = {
  nameRule: dnsLabelName,
  allowCreateOnUpdate: true,
  metadataOnUpdate: 'changes',
  returnDeletedObject: true,
  setDefaults: setServiceDefaults,
  prepareForCreate: (service) => {
    service.status = { loadBalancer: {} }
  },
  prepareForUpdate,
  canonicalize: (object) => {
    const { spec } = object
    if (spec?.type === 'ExternalName') delete spec.internalTrafficPolicy
  },
  validate: (object) => serviceErrors(object),
  validateUpdate: (object, old) => serviceUpdateErrors(object, old),
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  status: {
    validateUpdate: (object, old) => [...statusMetadataErrors(object, old), ...serviceStatusErrors(object, old)],
    warningsOnUpdate: (object) =>
      (object.status?.loadBalancer?.ingress ?? []).flatMap(({ ip = '' }, i) =>
        ip === '' ? [] : ipWarnings(ip, FieldPath.of('status', 'loadBalancer', 'ingress').index(i)),
      ),
  },
  table: tableOf<Service>(
    text('Type', 'Where it can be reached from.', ({ spec }) => spec?.type ?? ''),
    text('Cluster-IP', 'Its address within the cluster.', ({ spec }) => spec?.clusterIPs?.[0] ?? NONE),
    text('External-IP', 'Its addresses outside of it.', externalIPText),
    text('Port(s)', 'Its ports, with those of the nodes.', ({ spec }) =>
      commas(
        (spec?.ports ?? []).map(({ port = 0, nodePort = 0, protocol = '' }) =>
          nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
        ),
      ),
    ),
    age(),
    text('Selector', 'Which pods it leads to.', ({ spec }) => labelText(spec?.selector), { priority: 1 }),
  ),
}

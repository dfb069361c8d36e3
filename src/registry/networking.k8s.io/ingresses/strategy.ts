/** Thread: pool. Ingresses: hosts and paths that lead to backends. */

import { FieldPath, invalid, notSupported, required } from '../../../api/field-error.js'
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressLoadBalancerIngress,
  IngressRule,
} from '../../../api/generated/kinds/networking.v1.js'
import { ipWarnings, isAddress, legacyIP } from '../../../api/validation/addresses.js'
import {
  dnsLabel,
  dnsSubdomain,
  type Errors,
  each,
  givenBy,
  hostPattern,
  type List,
  optionalBy,
  portName,
  portNumber,
  requiredBy,
} from '../../../api/validation/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, NONE, tableOf, text } from '../../generic/table-rules.js'
import { typedReferenceErrors } from '../typed-reference.js'

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'
const SPEC = FieldPath.of('spec')
const NOT_AN_ADDRESS = 'must be a DNS name, not an IP address'
const BAD_PARTS = ['//', '/./', '/../', '%2f', '%2F']
const BAD_ENDS = ['/..', '/.']

function backendErrors({ service, resource }: IngressBackend, path: FieldPath): Errors {
  if (service && resource) return [invalid(path, '', 'a backend is a service or a resource, not both')]
  if (resource) return typedReferenceErrors(resource, path.child('resource'))
  if (!service) return [invalid(path, '', 'a backend needs a service or a resource')]
  const errors = requiredBy(service.name, path.child('service', 'name'), dnsLabel)
  const { name = '', number = 0 } = service.port ?? {}
  const port = path.child('service', 'port')
  if (name !== '' && number !== 0) errors.push(invalid(path, '', 'a port has a name or a number, not both'))
  else if (name !== '') errors.push(...portName(name, port.child('name')))
  else if (number !== 0) errors.push(...portNumber(number, port.child('number')))
  else errors.push(required(path, 'the port needs a name or a number'))
  return errors
}

function pathErrors({ path = '', pathType, backend }: HTTPIngressPath, at: FieldPath): Errors {
  if (pathType === undefined || pathType === null) return [required(at.child('pathType'))]
  const errors: Errors = []
  const wrong = (why: string): number => errors.push(invalid(at.child('path'), path, why))
  if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!path.startsWith('/')) wrong('must be an absolute path')
    for (const part of BAD_PARTS) if (path.includes(part)) wrong(`must not contain '${part}'`)
    for (const end of BAD_ENDS) if (path.endsWith(end)) wrong(`cannot end with '${end}'`)
  } else if (pathType === 'ImplementationSpecific') {
    if (path !== '' && !path.startsWith('/')) wrong('must be an absolute path')
  } else errors.push(notSupported(at.child('pathType'), pathType, ['Exact', 'ImplementationSpecific', 'Prefix']))
  return [...errors, ...backendErrors(backend ?? {}, at.child('backend'))]
}

function httpErrors({ http }: IngressRule, at: FieldPath): Errors {
  if (!http) return []
  const path = at.child('http', 'paths')
  return (http.paths?.length ?? 0) === 0 ? [required(path)] : each(http.paths, path, pathErrors)
}

function ruleErrors(rule: IngressRule, at: FieldPath, anyWildcard: boolean): Errors {
  const { host = '' } = rule
  const errors = optionalBy(host, at.child('host'), hostPattern)
  if (isAddress(host)) errors.push(invalid(at.child('host'), host, NOT_AN_ADDRESS))
  return anyWildcard && host.includes('*') ? errors : [...errors, ...httpErrors(rule, at)]
}

const badSecretName = ({ spec }: Ingress): boolean =>
  (spec?.tls ?? []).some(({ secretName }) => optionalBy(secretName, SPEC, dnsSubdomain).length > 0)
const badWildcard = ({ spec }: Ingress): boolean =>
  (spec?.rules ?? []).some((rule) => rule.host?.includes('*') && httpErrors(rule, SPEC).length > 0)

/** What was wrong before may stay so. */
function specErrors({ spec = {} }: Ingress, old?: Ingress): Errors {
  const errors: Errors = []
  if ((spec.rules?.length ?? 0) === 0 && !spec.defaultBackend)
    errors.push(invalid(SPEC, spec.rules ?? [], 'either `defaultBackend` or `rules` must be specified'))
  if (spec.defaultBackend) errors.push(...backendErrors(spec.defaultBackend, SPEC.child('defaultBackend')))
  const anyWildcard = old !== undefined && badWildcard(old)
  const anySecret = old !== undefined && badSecretName(old)
  errors.push(
    ...each(spec.rules, SPEC.child('rules'), (rule, at) => ruleErrors(rule, at, anyWildcard)),
    ...each(spec.tls, SPEC.child('tls'), ({ hosts, secretName }, at) => [
      ...each(hosts, at.child('hosts'), hostPattern),
      ...(anySecret ? [] : optionalBy(secretName, at.child('secretName'), dnsSubdomain)),
    ]),
    ...givenBy(spec.ingressClassName, SPEC.child('ingressClassName'), dnsSubdomain),
  )
  return errors
}

function classErrors({ metadata, spec }: Ingress): Errors {
  const annotation = metadata?.annotations?.[CLASS_ANNOTATION]
  const name = spec?.ingressClassName
  if (annotation === undefined || name === undefined || annotation === name) return []
  const path = FieldPath.of('annotations').child(CLASS_ANNOTATION)
  return [invalid(path, annotation, 'must match `ingressClassName` when both are specified')]
}

const addressesOf = (ingress: Ingress): List<IngressLoadBalancerIngress> => ingress.status?.loadBalancer?.ingress

function statusErrors(object: Ingress, old: Ingress): Errors {
  const known = new Set((addressesOf(old) ?? []).map(({ ip = '' }) => ip))
  return each(addressesOf(object), FieldPath.of('status', 'loadBalancer', 'ingress'), ({ ip, hostname = '' }, at) => [
    ...optionalBy(ip, at.child('ip'), (value, path) => legacyIP(value, path, known)),
    ...optionalBy(hostname, at.child('hostname'), dnsSubdomain),
    ...(isAddress(hostname) ? [invalid(at.child('hostname'), hostname, NOT_AN_ADDRESS)] : []),
  ])
}

/** All hosts, or the first three and how many more. */
function hostsText({ spec }: Ingress): string {
  const hosts = (spec?.rules ?? []).map(({ host }) => host ?? '').filter((host) => host !== '')
  if (hosts.length === 0) return '*'
  return hosts.length > 3 ? `${hosts.slice(0, 3).join(',')} + ${hosts.length - 3} more...` : hosts.join(',')
}

export const ingressRules: ResourceRules<Ingress> = {
  generationFields: ['spec'],
  validate: (object) => [...specErrors(object), ...classErrors(object)],
  validateUpdate: (object, old) => specErrors(object, old),
  warningsOnCreate: (object) => {
    const { metadata, spec } = object
    const annotated = metadata?.annotations?.[CLASS_ANNOTATION] !== undefined
    return annotated && spec?.ingressClassName === undefined
      ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
      : []
  },
  status: {
    validateUpdate: (object, old) => statusErrors(object, old),
    warningsOnUpdate: (object) =>
      (addressesOf(object) ?? []).flatMap(({ ip = '' }, i) =>
        ipWarnings(ip, FieldPath.of('status', 'loadBalancer', 'ingress').index(i)),
      ),
  },
  table: tableOf<Ingress>(
    text('Class', 'The class whose controller serves it.', ({ spec }) => spec?.ingressClassName ?? NONE),
    text('Hosts', 'The hosts that its rules name.', hostsText),
    text('Address', 'Where its load balancer is reached.', (object) =>
      (addressesOf(object) ?? [])
        .map(({ ip = '', hostname = '' }) => (ip === '' ? hostname : ip))
        .filter((address) => address !== '')
        .join(','),
    ),
    text('Ports', 'The ports that it opens.', ({ spec }) => ((spec?.tls?.length ?? 0) > 0 ? '80, 443' : '80')),
    age(),
  ),
}

/** Thread: pool. NetworkPolicies: which traffic reaches and leaves pods. */

import { FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyEgressRule,
  NetworkPolicyIngressRule,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from '../../../api/generated/kinds/networking.v1.js'
import { cidrWarnings, isStrictSubset, legacyCidr, parseCidr } from '../../../api/validation/addresses.js'
import { type Errors, each, givenBy, type List, portName, portNumber } from '../../../api/validation/checks.js'
import { labelSelectorErrors, type SelectorRules } from '../../../api/validation/label-selectors.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { selectorText } from '../../generic/selector-text.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

type Rule = NetworkPolicyIngressRule & NetworkPolicyEgressRule

interface Known extends SelectorRules {
  /** CIDRs that the stored object has: they may stay whatever they are. */
  readonly cidrs: ReadonlySet<string>
}

const SPEC = FieldPath.of('spec')
const PROTOCOLS = ['TCP', 'UDP', 'SCTP']
const TYPES = ['Ingress', 'Egress']

function setDefaults(policy: NetworkPolicy): void {
  policy.spec ??= {}
  const { spec } = policy
  for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])])
    for (const port of rule.ports ?? []) port.protocol ??= 'TCP'
  if ((spec.policyTypes?.length ?? 0) === 0)
    spec.policyTypes = (spec.egress?.length ?? 0) > 0 ? ['Ingress', 'Egress'] : ['Ingress']
}

function portErrors({ protocol, port, endPort }: NetworkPolicyPort, at: FieldPath): Errors {
  const errors: Errors = []
  if (protocol !== undefined && !PROTOCOLS.includes(protocol))
    errors.push(notSupported(at.child('protocol'), protocol, PROTOCOLS))
  const end = at.child('endPort')
  if (typeof port === 'number') {
    errors.push(...portNumber(port, at.child('port')))
    if (endPort === undefined) return errors
    if (endPort < port) errors.push(invalid(end, endPort, 'must be greater than or equal to `port`'))
    return [...errors, ...portNumber(endPort, end)]
  }
  if (endPort !== undefined) errors.push(invalid(end, endPort, 'needs a numeric `port`'))
  return [...errors, ...givenBy(port, at.child('port'), portName)]
}

function ipBlockErrors({ cidr = '', except }: IPBlock, path: FieldPath, known: Known): Errors {
  if (cidr === '') return [required(path.child('cidr'))]
  const errors = legacyCidr(cidr, path.child('cidr'), known.cidrs)
  const outer = parseCidr(cidr)
  if (outer === undefined) return errors
  return [
    ...errors,
    ...each(except, path.child('except'), (text, at) => {
      const inner = parseCidr(text)
      const strict = inner === undefined || isStrictSubset(inner, outer)
      return [
        ...legacyCidr(text, at, known.cidrs),
        ...(strict ? [] : [invalid(at, text, 'must be a strict subset of `cidr`')]),
      ]
    }),
  ]
}

function peerErrors(
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  at: FieldPath,
  known: Known,
): Errors {
  const errors = [
    ...labelSelectorErrors(podSelector, at.child('podSelector'), known),
    ...labelSelectorErrors(namespaceSelector, at.child('namespaceSelector'), known),
    ...(ipBlock ? ipBlockErrors(ipBlock, at.child('ipBlock'), known) : []),
  ]
  if (!podSelector && !namespaceSelector && !ipBlock) errors.push(required(at, 'must specify a peer'))
  else if (ipBlock && (podSelector || namespaceSelector))
    errors.push(forbidden(at, 'may not specify both ipBlock and another peer'))
  return errors
}

function specErrors({ spec = {} }: NetworkPolicy, known: Known): Errors {
  const rules = (list: List<Rule>, name: string, peers: 'from' | 'to'): Errors =>
    each(list, SPEC.child(name), (rule, at) => [
      ...each(rule.ports, at.child('ports'), portErrors),
      ...each(rule[peers], at.child(peers), (peer, path) => peerErrors(peer, path, known)),
    ])
  const errors = [
    ...labelSelectorErrors(spec.podSelector, SPEC.child('podSelector'), known),
    ...rules(spec.ingress, 'ingress', 'from'),
    ...rules(spec.egress, 'egress', 'to'),
  ]
  const types = SPEC.child('policyTypes')
  if ((spec.policyTypes?.length ?? 0) > TYPES.length)
    return [...errors, invalid(types, spec.policyTypes, 'may not specify more than two policyTypes')]
  return [
    ...errors,
    ...each(spec.policyTypes, types, (t, at) => (TYPES.includes(t) ? [] : [notSupported(at, t, TYPES)])),
  ]
}

const peersOf = ({ spec = {} }: NetworkPolicy): { peer: NetworkPolicyPeer; path: FieldPath }[] =>
  (['ingress', 'egress'] as const).flatMap((name) =>
    (spec[name] ?? []).flatMap((rule: Rule, i) => {
      const peers = name === 'ingress' ? 'from' : 'to'
      return (rule[peers] ?? []).map((peer, j) => ({ peer, path: SPEC.child(name).index(i).child(peers).index(j) }))
    }),
  )

function warnings(object: NetworkPolicy): string[] {
  return peersOf(object).flatMap(({ peer: { ipBlock }, path }) => {
    if (!ipBlock) return []
    const block = path.child('ipBlock')
    return [
      ...cidrWarnings(ipBlock.cidr ?? '', block.child('cidr')),
      ...(ipBlock.except ?? []).flatMap((cidr, i) => cidrWarnings(cidr, block.child('except').index(i))),
    ]
  })
}

export const networkPolicyRules: ResourceRules<NetworkPolicy> = {
  generationFields: ['spec'],
  emptyIsChange: true,
  metadataOnUpdate: 'changes',
  setDefaults,
  validate: (object) => specErrors(object, { cidrs: new Set() }),
  validateUpdate: (object, old) => {
    return specErrors(object, {
      cidrs: new Set(
        peersOf(old).flatMap(({ peer: { ipBlock } }) => [ipBlock?.cidr ?? '', ...(ipBlock?.except ?? [])]),
      ),
      anyValues: labelSelectorErrors(old.spec?.podSelector, SPEC).length > 0,
    })
  },
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  table: tableOf<NetworkPolicy>(
    text('Pod-Selector', 'The pods that it is for.', ({ spec }) => selectorText(spec?.podSelector)),
    age(),
  ),
}

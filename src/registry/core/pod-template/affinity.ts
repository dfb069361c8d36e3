/** Thread: any. Affinity of pods to nodes and to other pods: rules, and the labels that are merged into selectors. */

import { type FieldPath, forbidden, invalid, required } from '../../../api/field-error.js'
import type {
  Affinity,
  NodeAffinity,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
} from '../../../api/generated/kinds/core.v1.js'
import type { LabelSelector } from '../../../api/generated/kinds/meta.v1.js'
import type { LabelSelectorObject } from '../../../api/label-selector-object.js'
import { dnsLabel, dnsSubdomain, type Errors, labelValue, qualifiedName } from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

export function affinityErrors(affinity: Affinity | undefined, path: FieldPath): Errors {
  if (affinity === undefined) return []
  return [
    ...nodeAffinityErrors(affinity.nodeAffinity, path.child('nodeAffinity')),
    ...podAffinityErrors(affinity.podAffinity, path.child('podAffinity')),
    ...podAffinityErrors(affinity.podAntiAffinity, path.child('podAntiAffinity')),
  ]
}

const weightErrors = (weight = 0, path: FieldPath): Errors =>
  weight <= 0 || weight > 100 ? [invalid(path, weight, 'must be in the range 1-100')] : []

function nodeAffinityErrors(affinity: NodeAffinity | undefined, path: FieldPath): Errors {
  const errors: Errors = []
  const wanted = affinity?.[REQUIRED]
  if (wanted !== undefined) errors.push(...nodeSelectorErrors(wanted.nodeSelectorTerms ?? [], path.child(REQUIRED)))
  for (const [i, { weight, preference = {} }] of (affinity?.[PREFERRED] ?? []).entries()) {
    const at = path.child(PREFERRED).index(i)
    errors.push(...weightErrors(weight, at.child('weight')), ...termErrors(preference, at.child('preference'), false))
  }
  return errors
}

export function nodeSelectorErrors(terms: readonly NodeSelectorTerm[], path: FieldPath): Errors {
  const at = path.child('nodeSelectorTerms')
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')]
  return terms.flatMap((term, i) => termErrors(term, at.index(i), true))
}

/** In preferences wrong values only make a term that matches nothing. */
function termErrors(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  path: FieldPath,
  checkValues: boolean,
): Errors {
  return [
    ...matchExpressions.flatMap((requirement, i) =>
      expressionErrors(requirement, path.child('matchExpressions').index(i), checkValues),
    ),
    ...matchFields.flatMap((requirement, i) => fieldErrors(requirement, path.child('matchFields').index(i))),
  ]
}

function expressionErrors(
  { key = '', operator = '', values = [] }: NodeSelectorRequirement,
  path: FieldPath,
  checkValues: boolean,
): Errors {
  const errors: Errors = []
  const at = path.child('values')
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(at, "must be specified when `operator` is 'In' or 'NotIn'"))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.push(forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1) errors.push(required(at, "must be a single value when `operator` is 'Lt' or 'Gt'"))
  } else errors.push(invalid(path.child('operator'), operator, 'not a valid selector operator'))
  errors.push(...qualifiedName(key, path.child('key')))
  if (checkValues) for (const [i, value] of values.entries()) errors.push(...labelValue(value, at.index(i)))
  return errors
}

/** metadata.name is the only field. */
function fieldErrors({ key = '', operator = '', values = [] }: NodeSelectorRequirement, path: FieldPath): Errors {
  const errors: Errors = []
  if (operator !== 'In' && operator !== 'NotIn')
    errors.push(invalid(path.child('operator'), operator, 'not a valid selector operator'))
  else if (values.length !== 1) errors.push(required(path.child('values'), 'must be one value'))
  if (key !== 'metadata.name') errors.push(invalid(path.child('key'), key, 'not a valid field selector key'))
  else for (const [i, value] of values.entries()) errors.push(...dnsSubdomain(value, path.child('values').index(i)))
  return errors
}

function podAffinityErrors(affinity: PodAffinity | undefined, path: FieldPath): Errors {
  return [
    ...(affinity?.[REQUIRED] ?? []).flatMap((term, i) => podTermErrors(term, path.child(REQUIRED).index(i))),
    ...(affinity?.[PREFERRED] ?? []).flatMap(({ weight, podAffinityTerm = {} }, i) => {
      const at = path.child(PREFERRED).index(i)
      return [
        ...weightErrors(weight, at.child('weight')),
        ...podTermErrors(podAffinityTerm, at.child('podAffinityTerm')),
      ]
    }),
  ]
}

function podTermErrors(term: PodAffinityTerm, path: FieldPath): Errors {
  const { topologyKey = '', namespaces = [], matchLabelKeys = [], mismatchLabelKeys = [] } = term
  return [
    ...labelSelectorErrors(term.labelSelector, path.child('labelSelector')),
    ...labelSelectorErrors(term.namespaceSelector, path.child('namespaceSelector')),
    ...namespaces.flatMap((name) => dnsLabel(name, path.child('namespace'))),
    ...labelKeysErrors(path, matchLabelKeys, mismatchLabelKeys, term.labelSelector),
    ...(topologyKey === '' ? [required(path.child('topologyKey'), 'can not be empty')] : []),
    ...qualifiedName(topologyKey, path.child('topologyKey')),
  ]
}

/**
 * Keys whose values the pod's own labels give. They have been merged into the selector by now, so one that is there
 * twice was also written by hand.
 */
export function labelKeysErrors(
  path: FieldPath,
  matchKeys: readonly string[],
  mismatchKeys: readonly string[],
  selector: LabelSelectorObject | undefined,
): Errors {
  const keysErrors = (keys: readonly string[], at: FieldPath): Errors => {
    if (keys.length === 0) return []
    if (selector === undefined) return [forbidden(at, 'must not be specified when labelSelector is not set')]
    return keys.flatMap((key, i) => qualifiedName(key, at.index(i)))
  }
  const errors = [
    ...keysErrors(matchKeys, path.child('matchLabelKeys')),
    ...keysErrors(mismatchKeys, path.child('mismatchLabelKeys')),
  ]
  if (selector !== undefined) {
    const seen = new Set(Object.keys(selector.matchLabels ?? {}))
    for (const { key = '' } of selector.matchExpressions ?? []) {
      const i = matchKeys.lastIndexOf(key)
      if (i >= 0 && seen.has(key))
        errors.push(invalid(path.index(i), key, 'exists in both matchLabelKeys and labelSelector'))
      seen.add(key)
    }
  }
  for (const [i, key] of matchKeys.entries())
    if (mismatchKeys.includes(key))
      errors.push(
        invalid(path.child('matchLabelKeys').index(i), key, 'exists in both matchLabelKeys and mismatchLabelKeys'),
      )
  return errors
}

/** The pod's own values of the keys, as requirements of the selector. */
export function mergeLabelKeys(
  selector: LabelSelector | undefined,
  keys: readonly string[],
  operator: 'In' | 'NotIn',
  labels: Readonly<Record<string, string>>,
): void {
  if (selector === undefined) return
  for (const key of keys) {
    if (!Object.hasOwn(labels, key)) continue
    selector.matchExpressions = [...(selector.matchExpressions ?? []), { key, operator, values: [labels[key]!] }]
  }
}

export function mergeAffinityKeys(affinity: Affinity | undefined, labels: Readonly<Record<string, string>>): void {
  for (const side of [affinity?.podAffinity, affinity?.podAntiAffinity]) {
    const terms = [
      ...(side?.[PREFERRED] ?? []).map(({ podAffinityTerm = {} }) => podAffinityTerm),
      ...(side?.[REQUIRED] ?? []),
    ]
    for (const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } of terms) {
      mergeLabelKeys(labelSelector, matchLabelKeys, 'In', labels)
      mergeLabelKeys(labelSelector, mismatchLabelKeys, 'NotIn', labels)
    }
  }
}

/** Thread: pool. Labels of nodes that have newer names. */
import type { FieldPath } from '../../api/field-error.js'
import type { List } from '../../api/validation/checks.js'
import type { NodeSelectorTerm } from '../../api/validation/node-selectors.js'

const NEWER: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods': 'deprecated since v1.22; use taints and tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
}

export const deprecatedNodeLabel = (label: string): string | undefined =>
  Object.hasOwn(NEWER, label) ? NEWER[label] : undefined

export const nodeLabelWarnings = (label: string, path: FieldPath): string[] =>
  Object.hasOwn(NEWER, label) ? [`${path}: ${NEWER[label]}`] : []

export const nodeSelectorWarnings = (terms: List<NodeSelectorTerm>, path: FieldPath): string[] =>
  (terms ?? []).flatMap(({ matchExpressions }, i) =>
    (matchExpressions ?? []).flatMap(({ key = '' }, j) =>
      nodeLabelWarnings(key, path.index(i).child('matchExpressions').index(j).child('key')),
    ),
  )

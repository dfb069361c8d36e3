/** Thread: pool. Labels of nodes that have newer names. */

import type { FieldPath } from '../../api/field-error.js'
import type { NodeSelector, NodeSelectorTerm } from '../../api/generated/kinds/core.v1.js'
import type { List } from '../../api/validation/checks.js'
import { lookupTable } from '../../lib/lookup-table.js'

const NEWER: Readonly<Record<string, { readonly since: string; readonly name: string }>> = lookupTable({
  'beta.kubernetes.io/arch': { since: 'v1.14', name: 'kubernetes.io/arch' },
  'beta.kubernetes.io/os': { since: 'v1.14', name: 'kubernetes.io/os' },
  'failure-domain.beta.kubernetes.io/region': { since: 'v1.17', name: 'topology.kubernetes.io/region' },
  'failure-domain.beta.kubernetes.io/zone': { since: 'v1.17', name: 'topology.kubernetes.io/zone' },
  'beta.kubernetes.io/instance-type': { since: 'v1.17', name: 'node.kubernetes.io/instance-type' },
})
/** Those that nothing else took the place of, label for label. */
const GIVEN_UP: Readonly<Record<string, string>> = lookupTable({
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods': 'deprecated since v1.22; use taints and tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
})

export function deprecatedNodeLabel(label: string): string | undefined {
  if (Object.hasOwn(GIVEN_UP, label)) return GIVEN_UP[label]
  if (!Object.hasOwn(NEWER, label)) return undefined
  const { since, name } = NEWER[label]!
  return `deprecated since ${since}; use "${name}" instead`
}

export function nodeLabelWarnings(label: string, path: FieldPath): string[] {
  const text = deprecatedNodeLabel(label)
  return text === undefined ? [] : [`${path}: ${text}`]
}

/** A selector of nodes with those of its labels renamed that have their newer names in another one. */
export function withNamesOf(selector: NodeSelector, other: NodeSelector | undefined): NodeSelector {
  const nodeSelectorTerms = (selector.nodeSelectorTerms ?? []).map((term, i) => ({
    ...term,
    matchExpressions: (term.matchExpressions ?? []).map((requirement, j) => {
      const newer = other?.nodeSelectorTerms?.[i]?.matchExpressions?.[j]?.key
      return newer !== undefined && NEWER[requirement.key ?? '']?.name === newer
        ? { ...requirement, key: newer }
        : requirement
    }),
  }))
  return { ...selector, nodeSelectorTerms }
}

export const nodeSelectorWarnings = (terms: List<NodeSelectorTerm>, path: FieldPath): string[] =>
  (terms ?? []).flatMap(({ matchExpressions }, i) =>
    (matchExpressions ?? []).flatMap(({ key = '' }, j) =>
      nodeLabelWarnings(key, path.index(i).child('matchExpressions').index(j).child('key')),
    ),
  )

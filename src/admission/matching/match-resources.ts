/** Thread: pool. matchConstraints of a policy, or matchResources of a binding, compiled: rules, excludes and selectors. */
import type { MatchResources, NamedRuleWithOperations } from '../../api/generated/kinds/admissionregistration.v1.js'
import { labelSelectorAsSelector } from '../../api/label-selector-object.js'
import { nothing, SelectorError } from '../../api/labels.js'
import type { KubeObject } from '../../api/object.js'
import type { Selector } from '../../api/selector.js'
import type { AdmissionAttributes } from '../chain.js'
import type { AdmissionObjects, Maybe } from '../objects.js'
import type { RuledEntry } from './rule-match.js'
import { namespaceMatches, objectMatches } from './selector-match.js'

export interface MatchedResources extends RuledEntry {
  readonly excludes: readonly NamedRuleWithOperations[]
  readonly namespaceSelector: Selector
  readonly objectSelector: Selector
}

/** Without any (a binding without matchResources) everything is matched. */
export const matchedResources = (match: MatchResources | undefined): MatchedResources => ({
  rules: match?.resourceRules ?? [],
  excludes: match?.excludeResourceRules ?? [],
  matchPolicy: match?.matchPolicy ?? 'Equivalent',
  namespaceSelector: selectorOf(match?.namespaceSelector ?? {}),
  objectSelector: selectorOf(match?.objectSelector ?? {}),
})

/**
 * Whether the selectors take a request. Throws a StatusError when its namespace is not there: whoever asks has looked at the rules
 * before, since nobody is to fail for a policy that is not for them.
 */
export function selectorsMatch(
  { namespaceSelector, objectSelector }: Pick<MatchedResources, 'namespaceSelector' | 'objectSelector'>,
  attributes: AdmissionAttributes,
  object: KubeObject | undefined,
  objects: AdmissionObjects,
): Maybe<boolean> {
  return objectMatches(objectSelector, attributes, object)
    ? namespaceMatches(namespaceSelector, attributes, object, objects)
    : false
}

/** A stored selector was checked when it was written; one that another server wrote wrongly takes nothing. */
export function selectorOf(object: Parameters<typeof labelSelectorAsSelector>[0]): Selector {
  try {
    return labelSelectorAsSelector(object)
  } catch (error) {
    if (error instanceof SelectorError) return nothing
    throw error
  }
}

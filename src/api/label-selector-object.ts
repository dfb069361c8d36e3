/** Thread: any. LabelSelector objects, as they stand in workloads, policies and quotas. */
import { type LabelOperator, LabelRequirement, LabelSelector, nothing, SelectorError } from './labels.js'
import { everything, type Selector } from './selector.js'

export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key?: string
    readonly operator?: string
    readonly values?: readonly string[] | null
  }[]
}

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
])

/** Nothing for an absent selector, everything for an empty one. Throws SelectorError. */
export function labelSelectorAsSelector(object: LabelSelectorObject | null | undefined): Selector {
  if (object === undefined || object === null) return nothing
  const requirements = Object.entries(object.matchLabels ?? {}).map(
    ([key, value]) => new LabelRequirement(key, '=', [value]),
  )
  for (const { key = '', operator = '', values } of object.matchExpressions ?? []) {
    const known = OPERATORS.get(operator)
    if (known === undefined)
      throw new SelectorError(`${JSON.stringify(operator)} is not a valid label selector operator`)
    requirements.push(new LabelRequirement(key, known, values ?? []))
  }
  return requirements.length === 0 ? everything : new LabelSelector(requirements)
}

/** A plain map of labels, as in the selectors of services and replication controllers. */
export function labelsAsSelector(labels: Readonly<Record<string, string>> | null | undefined): Selector {
  const requirements = Object.entries(labels ?? {}).map(([key, value]) => new LabelRequirement(key, '=', [value]))
  return requirements.length === 0 ? everything : new LabelSelector(requirements)
}

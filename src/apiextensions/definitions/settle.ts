/**
 * Thread: any. What a server decides about a definition and writes into its status: which of its names are accepted, and whether
 * it is established. Kubernetes has a controller for each condition; here they are decided together, in one write.
 */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
} from '../../api/generated/kinds/apiextensions.v1.js'
import { metadataOf } from '../../api/object.js'
import { approvalCondition } from './approval.js'
import { conditionIs, removeCondition, setCondition } from './conditions.js'

/** The names that the other definitions of the group have. */
export interface TakenNames {
  readonly resources: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
}

/** Plural, singular and short names share one space, kinds and kinds of lists another. */
export function namesIn(names: CustomResourceDefinitionNames): { resources: string[]; kinds: string[] } {
  const { plural = '', singular = '', shortNames, kind = '', listKind = '' } = names
  return {
    resources: [plural, singular, ...(shortNames ?? [])].filter((name) => name !== ''),
    kinds: [kind, listKind].filter((name) => name !== ''),
  }
}

/** Changes the definition's status in place; false when it is as it should be. */
export function settle(definition: CustomResourceDefinition, taken: TakenNames, time: string): boolean {
  definition.status ??= {}
  const { names = {} } = definition.spec ?? {}
  const before = definition.status.acceptedNames ?? {}
  const { accepted, conflict } = acceptNames(names, before, taken)
  let changed = JSON.stringify(namesText(before)) !== JSON.stringify(namesText(accepted))
  if (changed) definition.status.acceptedNames = accepted
  const set = (condition: Parameters<typeof setCondition>[1]): void => {
    changed = setCondition(definition, condition, time) || changed
  }
  set(
    conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...conflict },
  )
  if (!conditionIs(definition, 'Established', 'True'))
    set(
      conflict === undefined
        ? {
            type: 'Established',
            status: 'True',
            reason: 'InitialNamesAccepted',
            message: 'the initial names have been accepted',
          }
        : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    )
  const approval = approvalCondition(definition.spec?.group ?? '', metadataOf(definition).annotations)
  if (approval !== undefined) set(approval)
  if (definition.spec?.preserveUnknownFields === true)
    set({
      type: 'NonStructuralSchema',
      status: 'True',
      reason: 'Violations',
      message: 'spec.preserveUnknownFields: Invalid value: true: must be false',
    })
  else changed = removeCondition(definition, 'NonStructuralSchema') || changed
  return changed
}

const namesText = ({ plural, singular, shortNames, kind, listKind, categories }: CustomResourceDefinitionNames) => [
  plural ?? '',
  singular ?? '',
  shortNames ?? [],
  kind ?? '',
  listKind ?? '',
  categories ?? [],
]

interface Conflict {
  readonly reason: string
  readonly message: string
}

/** Names that are free, or were accepted before, are accepted; of the others the old ones stay. The last conflict is told. */
function acceptNames(
  wanted: CustomResourceDefinitionNames,
  before: CustomResourceDefinitionNames,
  taken: TakenNames,
): { accepted: CustomResourceDefinitionNames; conflict: Conflict | undefined } {
  const accepted: CustomResourceDefinitionNames = { ...before }
  let conflict: Conflict | undefined
  const used = (name: string): string => `${JSON.stringify(name)} is already in use`
  const one = (
    field: 'plural' | 'singular' | 'kind' | 'listKind',
    space: ReadonlySet<string>,
    reason: string,
  ): void => {
    const name = wanted[field] ?? ''
    if (name !== (before[field] ?? '') && space.has(name)) conflict = { reason, message: used(name) }
    else if (name !== '') accepted[field] = name
  }
  one('plural', taken.resources, 'PluralConflict')
  one('singular', taken.resources, 'SingularConflict')
  const known = new Set(before.shortNames ?? [])
  const clashes = (wanted.shortNames ?? []).filter((name) => !known.has(name) && taken.resources.has(name))
  if (clashes.length > 0) {
    const texts = clashes.map(used)
    const message = texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`
    conflict = { reason: 'ShortNamesConflict', message }
  } else if (wanted.shortNames === undefined) delete accepted.shortNames
  else accepted.shortNames = wanted.shortNames
  one('kind', taken.kinds, 'KindConflict')
  one('listKind', taken.kinds, 'ListKindConflict')
  if (wanted.categories === undefined) delete accepted.categories
  else accepted.categories = wanted.categories
  return { accepted, conflict }
}

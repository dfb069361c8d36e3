/** Thread: any. The two selectors of a list or watch. */
import { FieldSelector, parseFieldSelector } from './fields.js'
import { parseLabelSelector } from './label-parser.js'
import { SelectorError } from './labels.js'
import type { ListOptions } from './list-options.js'
import { everything, type Selector } from './selector.js'
import { newBadRequest } from './status.js'

export interface Selectors {
  readonly label: Selector
  readonly field: Selector
}

const ALL: Selectors = { label: everything, field: everything }

/** Throws BadRequest for what cannot be understood, and for fields that the resource does not index. */
export function parseSelectors(options: ListOptions, selectableFields: readonly string[]): Selectors {
  if (options.labelSelector === '' && options.fieldSelector === '') return ALL
  try {
    const label = options.labelSelector === '' ? everything : parseLabelSelector(options.labelSelector)
    if (options.fieldSelector === '') return { label, field: everything }
    const field = parseFieldSelector(options.fieldSelector)
    for (const requirement of field.requirements) {
      if (!selectableFields.includes(requirement.field)) {
        const known = selectableFields.map((name) => JSON.stringify(name)).join(', ')
        throw new SelectorError(`${JSON.stringify(requirement.field)} is not a known field selector: only ${known}`)
      }
    }
    return { label, field }
  } catch (error) {
    if (error instanceof SelectorError) throw newBadRequest(error.message)
    throw error
  }
}

const NAMES: ReadonlySet<string> = new Set(['metadata.name', 'metadata.namespace'])

/** Whether more than names decides what is selected: names are the same in every version of an object. */
export function selectsContent({ label, field }: Selectors): boolean {
  if (!label.empty()) return true
  if (field.empty()) return false
  return !(field instanceof FieldSelector) || field.requirements.some(({ field: name }) => !NAMES.has(name))
}

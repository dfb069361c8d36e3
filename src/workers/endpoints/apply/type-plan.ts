/** Thread: any. What walks need of a struct or list, made once a type: elements and their order, keys and their defaults. */

import { compareText, fieldElement, scalarText } from '../../../api/managed-fields/path-element.js'
import type { Json } from '../../../api/object.js'
import type { ListSchema, StructSchema, TypeSchema } from '../../../api/schema.js'

export interface PlannedField {
  readonly name: string
  readonly element: string
  readonly type: TypeSchema
  /** The place of the field in the order of FieldsV1. */
  readonly rank: number
}

export interface StructPlan {
  readonly byName: ReadonlyMap<string, PlannedField>
  readonly byElement: ReadonlyMap<string, PlannedField>
}

/** Plans by type: a plan lives as long as its type. */
const plans = new WeakMap<StructSchema, StructPlan>()

export function planOf(struct: StructSchema): StructPlan {
  const known = plans.get(struct)
  if (known !== undefined) return known
  const names = [...struct.fields.keys()].sort(compareText)
  const fields = names.map((name, rank): PlannedField => {
    return { name, element: fieldElement(name), type: struct.fields.get(name)!.type, rank }
  })
  const plan = {
    byName: new Map(fields.map((field) => [field.name, field])),
    byElement: new Map(fields.map((field) => [field.element, field])),
  }
  plans.set(struct, plan)
  return plan
}

export interface PlannedKey {
  readonly name: string
  /** The key as it begins in an element: `"name":`. */
  readonly label: string
  /** The value of an item that does not say its key. */
  readonly zero: Json | undefined
}

const listPlans = new WeakMap<ListSchema, readonly PlannedKey[]>()

/** The keys of a list's items, in the order in which elements hold them. */
export function listPlanOf(list: ListSchema): readonly PlannedKey[] {
  const known = listPlans.get(list)
  if (known !== undefined) return known
  const fields = list.items.kind === 'struct' ? list.items.fields : undefined
  const plan = [...list.mapKeys].sort(compareText).map((name): PlannedKey => {
    return { name, label: `${scalarText(name)}:`, zero: fields?.get(name)?.default as Json | undefined }
  })
  listPlans.set(list, plan)
  return plan
}

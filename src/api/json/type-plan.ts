/**
 * Thread: any. Schemas compiled for the codec: fields by name with their place in the output, what stands for a value that
 * is not there, and which values are left out. Made once a type.
 */
import type { Json, JsonObject } from '../object.js'
import type { FieldPresence, FieldSchema, ScalarKind, StructSchema, TypeSchema } from '../schema.js'
import { zeroOfKind } from '../zero-values.js'

export type TypePlan =
  | {
      readonly op: 'scalar'
      readonly kind: ScalarKind
      readonly goType: string
      readonly objects?: StructPlan
      /** The fields of one manager: managed-fields/field-texts.ts has their text. */
      readonly isFieldSet?: boolean
    }
  | { readonly op: 'struct'; readonly goType: string; readonly struct: StructPlan }
  | { readonly op: 'list'; readonly goType: string; readonly items: TypePlan }
  | { readonly op: 'map'; readonly goType: string; readonly values: TypePlan }

export interface FieldPlan {
  readonly name: string
  /** Place among the fields of the struct. */
  readonly index: number
  /** `"name":`, ready to print. */
  readonly prefix: string
  readonly type: TypePlan
  /** "", 0, false, an empty list or map is as good as absent. */
  readonly dropsZero: boolean
  /** What is printed when it is absent: nothing, null, or the zero value of its type. */
  readonly absent: 'nothing' | 'null' | 'zero'
}

export interface StructPlan {
  readonly name: string
  /** PodSpec, as Go's messages call it. */
  readonly goName: string
  readonly fields: ReadonlyMap<string, FieldPlan>
  readonly inOrder: readonly FieldPlan[]
  /** Fields that are printed though they are absent. */
  readonly filled: readonly FieldPlan[]
  /** Keep what the schema does not know. */
  readonly preserveUnknown: boolean
  /** Built-in types print in the order of the schema; others, as Go prints maps, by key. */
  readonly sorted: boolean
  /** The codec's own note: whether the last object of this type had its members in another order than the type. */
  outOfOrder: boolean
}

/** Lists that, empty, are not the same as absent ones: defaults fill in what was not said, and nothing is refused. */
const EMPTY_IS_SAID = new Set(['io.k8s.api.autoscaling.v2.HPAScalingRules/policies'])

/** Only on first use: the fields of a struct may lead back to it. */
class LazyStructPlan implements StructPlan {
  readonly #schema: StructSchema
  #fields: Map<string, FieldPlan> | undefined
  #inOrder: FieldPlan[] | undefined
  #filled: FieldPlan[] | undefined
  #sorted: boolean | undefined
  readonly name: string
  readonly goName: string
  readonly preserveUnknown: boolean
  outOfOrder = false

  constructor(schema: StructSchema) {
    this.#schema = schema
    this.name = schema.name
    this.goName = schema.name.slice(schema.name.lastIndexOf('.') + 1)
    this.preserveUnknown = schema.preserveUnknown
  }

  get fields(): ReadonlyMap<string, FieldPlan> {
    if (this.#fields === undefined) {
      this.#fields = new Map()
      for (const field of this.#schema.fields.values())
        this.#fields.set(
          field.name,
          fieldPlan(field, this.#fields.size, EMPTY_IS_SAID.has(`${this.name}/${field.name}`)),
        )
    }
    return this.#fields
  }

  get inOrder(): readonly FieldPlan[] {
    this.#inOrder ??= [...this.fields.values()]
    return this.#inOrder
  }

  get filled(): readonly FieldPlan[] {
    this.#filled ??= this.inOrder.filter((f) => f.absent !== 'nothing')
    return this.#filled
  }

  get sorted(): boolean {
    if (this.#sorted === undefined) {
      const [first] = this.#schema.fields.values()
      this.#sorted = first !== undefined && first.presence === undefined
    }
    return this.#sorted
  }
}

const structPlans = new WeakMap<StructSchema, StructPlan>()

export function planOf(schema: StructSchema): StructPlan {
  let plan = structPlans.get(schema)
  if (plan === undefined) {
    plan = new LazyStructPlan(schema)
    structPlans.set(schema, plan)
  }
  return plan
}

function fieldPlan(field: FieldSchema, index: number, emptyIsSaid: boolean): FieldPlan {
  const type = typePlan(field.type)
  return {
    name: field.name,
    index,
    prefix: `${JSON.stringify(field.name)}:`,
    type,
    dropsZero: !emptyIsSaid && field.presence !== undefined && dropsZero(field.presence, type),
    absent: field.presence === undefined ? 'nothing' : whenAbsent(field.presence, type),
  }
}

function dropsZero(presence: FieldPresence, type: TypePlan): boolean {
  if (presence.pointer || !presence.omitEmpty) return false
  return type.op === 'scalar' ? !isGoStruct(type.kind) : type.op !== 'struct'
}

/** Structs in Go, for which omitempty means nothing. */
const isGoStruct = (kind: ScalarKind): boolean =>
  kind === 'time' || kind === 'micro-time' || kind === 'quantity' || kind === 'int-or-string' || kind === 'any'

function whenAbsent(presence: FieldPresence, type: TypePlan): FieldPlan['absent'] {
  if (presence.omitZero) return 'nothing'
  if (presence.pointer) return presence.omitEmpty ? 'nothing' : 'null'
  const goStruct = type.op === 'struct' || (type.op === 'scalar' && isGoStruct(type.kind))
  return presence.omitEmpty && !goStruct ? 'nothing' : 'zero'
}

export function typePlan(schema: TypeSchema): TypePlan {
  switch (schema.kind) {
    case 'struct': {
      const struct = planOf(schema)
      return { op: 'struct', struct, goType: qualified(schema.name) }
    }
    case 'list': {
      const items = typePlan(schema.items)
      return { op: 'list', items, goType: `[]${items.goType}` }
    }
    case 'map': {
      const values = typePlan(schema.values)
      return { op: 'map', values, goType: `map[string]${values.goType}` }
    }
    default:
      return {
        op: 'scalar',
        kind: schema.kind,
        goType: GO_TYPES[schema.kind],
        ...(schema.objects === undefined ? {} : { objects: planOf(schema.objects) }),
        ...(schema.kind === 'any' && schema.name === 'FieldsV1' ? { isFieldSet: true } : {}),
      }
  }
}

const GO_TYPES: Readonly<Record<ScalarKind, string>> = {
  string: 'string',
  boolean: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  bytes: '[]uint8',
  time: 'v1.Time',
  'micro-time': 'v1.MicroTime',
  duration: 'v1.Duration',
  quantity: 'resource.Quantity',
  'int-or-string': 'intstr.IntOrString',
  any: 'runtime.RawExtension',
}

/** io.k8s.api.core.v1.PodSpec → v1.PodSpec */
const qualified = (name: string): string => name.split('.').slice(-2).join('.')

/** What Go prints for the zero value: null for lists, maps, times and raw JSON. */
export function zeroValue(type: TypePlan): Json {
  if (type.op === 'struct') return zeroStruct(type.struct)
  return type.op === 'scalar' ? zeroOfKind(type.kind) : null
}

export function zeroStruct(plan: StructPlan): JsonObject {
  const object: JsonObject = {}
  fill(object, plan)
  return object
}

/** Puts in what Go prints for fields that are absent. False when all were there. */
export function fill(object: JsonObject, plan: StructPlan): boolean {
  let filled = false
  for (const field of plan.filled) {
    const value = object[field.name]
    if (value !== undefined && value !== null) continue
    object[field.name] = field.absent === 'zero' ? zeroValue(field.type) : null
    filled = true
  }
  return filled
}

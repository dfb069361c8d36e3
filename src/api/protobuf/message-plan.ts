/**
 * Thread: any. Schemas compiled for the wire: the fields of a message by number, how each is written, and which are
 * written though they are absent. Made once a type, on first use.
 *
 * What is written follows from the Go declaration: a value that is no pointer is always there, a pointer when it is set,
 * lists and maps an item at a time. An embedded struct is a message of its own that is always there; its fields lie in
 * the same object as those around it.
 */
import { lookupTable } from '../../lib/lookup-table.js'
import { type FieldPlan, planOf, type StructPlan, zeroValue } from '../json/type-plan.js'
import type { FieldSchema, ScalarSchema, StructSchema, TypeSchema } from '../schema.js'

/** How one value is written. */
export const Op = {
  string: 0,
  boolean: 1,
  int32: 2,
  int64: 3,
  double: 4,
  bytes: 5,
  message: 6,
  embedded: 7,
  time: 8,
  microTime: 9,
  duration: 10,
  quantity: 11,
  intOrString: 12,
  /** JSON text in field 1 of a message: RawExtension, FieldsV1, JSON. */
  raw: 13,
  /** A list of strings in field 1 of a message. */
  strings: 14,
  /** The unions of custom resource definitions, each a message with an alternative a field. */
  schemaOrArray: 15,
  schemaOrBool: 16,
  schemaOrStrings: 17,
  /** A FieldsV1, whose text managed-fields/field-texts.ts may know; else as raw. */
  fieldSet: 18,
} as const
export type Op = (typeof Op)[keyof typeof Op]

export const Shape = { single: 0, list: 1, map: 2 } as const
export type Shape = (typeof Shape)[keyof typeof Shape]

export const Wire = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const

interface FieldFacts {
  readonly name: string
  readonly number: number
  readonly op: Op
  readonly shape: Shape
  readonly always: boolean
  readonly dropsZero: boolean
  readonly keepsAbsence: boolean
  readonly keepsNull: boolean
  readonly message: (() => MessagePlan) | undefined
}

/** One class for all fields, so that the loops over them see one shape. */
export class MessageField {
  /** In JSON; for an embedded struct what errors call it. */
  readonly name: string
  readonly number: number
  /** Number and wire type as they stand before the value. */
  readonly tag: number
  readonly wire: number
  readonly op: Op
  readonly shape: Shape
  /** Written though absent, as the zero value. */
  readonly always: boolean
  /** Decoded: the zero value is left out. */
  readonly dropsZero: boolean
  /** Absent, it is absent when it is read again, unless the message puts it in (its plan's `filled`). */
  readonly keepsAbsence: boolean
  /** Null, it is null when it is read again. */
  readonly keepsNull: boolean
  readonly #make: (() => MessagePlan) | undefined
  #message: MessagePlan | undefined

  constructor(facts: FieldFacts) {
    this.name = facts.name
    this.number = facts.number
    this.op = facts.op
    this.shape = facts.shape
    this.wire = facts.shape === Shape.map ? Wire.bytes : wireOf(facts.op)
    this.tag = facts.number * 8 + this.wire
    this.always = facts.always
    this.dropsZero = facts.dropsZero
    this.keepsAbsence = facts.keepsAbsence
    this.keepsNull = facts.keepsNull
    this.#make = facts.message
  }

  /** Of messages, embedded structs and the schemas within unions. Made on first use: a type may lead back to itself. */
  get message(): MessagePlan {
    this.#message ??= this.#make!()
    return this.#message
  }
}

export class MessagePlan {
  readonly name: string
  /** By ascending number. */
  readonly fields: readonly MessageField[]
  /** By number; holes are unknown fields. */
  readonly byNumber: readonly (MessageField | undefined)[]
  /** For the values that stand for absent ones; undefined for embedded structs, which the one around them fills. */
  readonly json: StructPlan | undefined

  constructor(name: string, fields: MessageField[], json: StructPlan | undefined) {
    this.name = name
    this.fields = fields.sort((a, b) => a.number - b.number)
    const byNumber = new Array<MessageField | undefined>((this.fields.at(-1)?.number ?? 0) + 1).fill(undefined)
    for (const field of this.fields) byNumber[field.number] = field
    this.byNumber = byNumber
    this.json = json
  }
}

const plans = new WeakMap<StructSchema, MessagePlan>()

export function messagePlan(schema: StructSchema): MessagePlan {
  let plan = plans.get(schema)
  if (plan === undefined) {
    const json = planOf(schema)
    const wired = [...schema.fields.values()].filter((field) => field.wire !== undefined)
    plan = new MessagePlan(json.goName, messageFields(schema, wired, 0, json), json)
    plans.set(schema, plan)
  }
  return plan
}

/** The fields at one depth of their paths; deeper ones are gathered in embedded messages. */
function messageFields(owner: StructSchema, fields: FieldSchema[], depth: number, json: StructPlan): MessageField[] {
  const made: MessageField[] = []
  const embedded = new Map<number, FieldSchema[]>()
  for (const field of fields) {
    const number = field.wire!.path[depth]!
    if (field.wire!.path.length === depth + 1) made.push(fieldOf(owner, field, number, json.fields.get(field.name)!))
    else if (embedded.has(number)) embedded.get(number)!.push(field)
    else embedded.set(number, [field])
  }
  for (const [number, inner] of embedded) {
    const plan = new MessagePlan(json.goName, messageFields(owner, inner, depth + 1, json), undefined)
    made.push(embeddedField(number, plan))
  }
  return made
}

const embeddedField = (number: number, message: MessagePlan): MessageField =>
  new MessageField({
    name: `(embedded ${number})`,
    number,
    op: Op.embedded,
    shape: Shape.single,
    always: true,
    dropsZero: false,
    keepsAbsence: true,
    keepsNull: false,
    message: () => message,
  })

/** Whose zero values are left out when they are read. */
const DROPPED: ReadonlySet<Op> = new Set([Op.string, Op.boolean, Op.int32, Op.int64, Op.double])

const isFilledWithNull = ({ absent, type }: FieldPlan): boolean =>
  absent === 'null' || (absent === 'zero' && zeroValue(type) === null)

function fieldOf(owner: StructSchema, field: FieldSchema, number: number, json: FieldPlan): MessageField {
  const { type, wire, presence } = field
  const isList = type.kind === 'list' && !wire!.wrapped
  const value = type.kind === 'map' ? type.values : isList ? type.items : type
  const op = opOf(value)
  const shape = type.kind === 'map' ? Shape.map : isList ? Shape.list : Shape.single
  const mayBeNil = shape !== Shape.single || op === Op.bytes || op === Op.strings
  const schema = schemaOf(owner, value)
  const always = !mayBeNil && presence?.pointer === false
  const zeroIsNothing = op === Op.time || op === Op.microTime || op === Op.raw || op === Op.fieldSet
  return new MessageField({
    name: field.name,
    number,
    op,
    shape,
    always,
    dropsZero: json.dropsZero,
    keepsAbsence: !always || zeroIsNothing || (json.dropsZero && DROPPED.has(op)),
    keepsNull: (!always || zeroIsNothing) && isFilledWithNull(json),
    message: schema === undefined ? undefined : () => messagePlan(schema),
  })
}

const SCALAR_OPS: Readonly<Record<Exclude<ScalarSchema['kind'], 'any'>, Op>> = {
  string: Op.string,
  boolean: Op.boolean,
  int32: Op.int32,
  int64: Op.int64,
  double: Op.double,
  bytes: Op.bytes,
  time: Op.time,
  'micro-time': Op.microTime,
  duration: Op.duration,
  quantity: Op.quantity,
  'int-or-string': Op.intOrString,
}
const UNION_OPS: Readonly<Record<string, Op>> = lookupTable({
  JSONSchemaPropsOrArray: Op.schemaOrArray,
  JSONSchemaPropsOrBool: Op.schemaOrBool,
  JSONSchemaPropsOrStringArray: Op.schemaOrStrings,
})

const NAMED_OPS: Readonly<Record<string, Op>> = lookupTable({ ...UNION_OPS, FieldsV1: Op.fieldSet })

function opOf(type: TypeSchema): Op {
  if (type.kind === 'struct') return Op.message
  // Within a map or wrapped, a list is of strings.
  if (type.kind === 'list') return Op.strings
  if (type.kind === 'map') throw new Error('a map of maps has no form on the wire')
  return type.kind === 'any' ? (NAMED_OPS[type.name ?? ''] ?? Op.raw) : SCALAR_OPS[type.kind]
}

function wireOf(op: Op): number {
  if (op === Op.boolean || op === Op.int32 || op === Op.int64) return Wire.varint
  return op === Op.double ? Wire.fixed64 : Wire.bytes
}

/** The unions hold schemas, and only a schema holds one: its own type. */
function schemaOf(owner: StructSchema, type: TypeSchema): StructSchema | undefined {
  if (type.kind === 'struct') return type
  return type.kind === 'any' && UNION_OPS[type.name ?? ''] !== undefined ? owner : undefined
}

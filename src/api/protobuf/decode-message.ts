/**
 * Thread: any. Protobuf messages as the canonical trees that the JSON decoder leaves: zero values left out or put in as
 * Go prints them, quantities and times as their text. Fields that the schema does not know are passed over. Any bytes
 * end in a tree or in a ProtobufError.
 */
import { checkJsonSize, DecodedSizeError, MAX_DECODED_VALUES } from '../decoded-size.js'
import { formatDuration } from '../duration.js'
import { parseJson } from '../json/parse.js'
import { setMember } from '../json/reader.js'
import { JsonSyntaxError } from '../json/syntax-error.js'
import { fill } from '../json/type-plan.js'
import { fieldTexts } from '../managed-fields/field-texts.js'
import type { Json, JsonObject } from '../object.js'
import { canonicalQuantity, QuantityError } from '../quantity.js'
import type { StructSchema } from '../schema.js'
import { ByteReader } from './byte-reader.js'
import { type MessageField, type MessagePlan, messagePlan, Op, Shape, Wire } from './message-plan.js'
import { ProtobufError } from './protobuf-error.js'
import { formatTimestamp } from './timestamp.js'

/** As the JSON reader's: nothing real comes near, and so many levels fit our stack. */
const MAX_DEPTH = 1000

/** The tree of one message. Throws ProtobufError. */
export function decodeMessage(bytes: Uint8Array, schema: StructSchema): JsonObject {
  return decodeFrom(new ByteReader(bytes), bytes.length, schema, {})
}

/** The same of a request's bytes, which may become so much and no more. Throws DecodedSizeError too. */
export function decodeRequestMessage(bytes: Uint8Array, schema: StructSchema): JsonObject {
  return new MessageDecoder(new ByteReader(bytes), MAX_DECODED_VALUES).decode(messagePlan(schema), {}, bytes.length)
}

/** The same of what is between the reader's place and an end; `into` holds members that the message does not carry. */
export function decodeFrom(reader: ByteReader, end: number, schema: StructSchema, into: JsonObject): JsonObject {
  return new MessageDecoder(reader).decode(messagePlan(schema), into, end)
}

class MessageDecoder {
  readonly #reader: ByteReader
  #depth = 0
  /** Fields and items that may still come. */
  #left: number
  /** Most times of an object are the same few. */
  #lastSeconds = Number.NaN
  #lastTime: string | null = null

  constructor(reader: ByteReader, maxValues = Number.MAX_SAFE_INTEGER) {
    this.#reader = reader
    this.#left = maxValues
  }

  decode(plan: MessagePlan, into: JsonObject, end: number): JsonObject {
    return this.#struct(into, plan, end, false)
  }

  /** `merging`: the object holds what an earlier message of the same field left. */
  #struct(object: JsonObject, plan: MessagePlan, end: number, merging: boolean): JsonObject {
    if (++this.#depth > MAX_DEPTH) throw new ProtobufError(`messages are nested more than ${MAX_DEPTH} deep`)
    this.#fields(object, plan, end, merging)
    if (plan.json !== undefined) fill(object, plan.json)
    this.#depth--
    return object
  }

  #fields(object: JsonObject, plan: MessagePlan, end: number, merging: boolean): void {
    const reader = this.#reader
    const { byNumber } = plan
    let highest = merging ? Number.POSITIVE_INFINITY : 0
    while (reader.at < end) {
      const tag = reader.varint(end)
      if (--this.#left < 0) throw new DecodedSizeError()
      const number = Math.floor(tag / 8)
      const field = number < byNumber.length ? byNumber[number] : undefined
      if (field === undefined) {
        reader.skip(tag, end)
        continue
      }
      // A field that comes a second time adds to the first one or takes its place.
      const again = number <= highest
      if (!again) highest = number
      if (tag !== field.tag && !this.#packed(tag, field)) throw wrongWire(tag, field, plan)
      if (field.shape === Shape.single) this.#single(object, field, end, again)
      else if (field.shape === Shape.list) this.#list(object, field, tag, end, again)
      else this.#map(object, field, end, again)
    }
  }

  #single(object: JsonObject, field: MessageField, end: number, again: boolean): void {
    const { op, name } = field
    if (op === Op.string) {
      const text = this.#reader.string(end)
      if (text !== '' || !field.dropsZero) object[name] = text
      else if (again) delete object[name]
      return
    }
    if (op === Op.message) {
      object[name] = this.#message(field.message, end, again ? object[name] : undefined)
      return
    }
    if (op === Op.embedded) {
      this.#struct(object, field.message, this.#reader.delimited(end), again)
      return
    }
    const value = this.#value(field, end)
    if (value !== undefined && !(field.dropsZero && isZero(value))) object[name] = value
    else if (again) delete object[name]
  }

  #message(plan: MessagePlan, end: number, before?: Json): JsonObject {
    const stop = this.#reader.delimited(end)
    return isObject(before) ? this.#struct(before, plan, stop, true) : this.#struct({}, plan, stop, false)
  }

  /** Items of a list mostly come in one run. */
  #list(object: JsonObject, field: MessageField, tag: number, end: number, again: boolean): void {
    const reader = this.#reader
    const before = again ? object[field.name] : undefined
    const list = Array.isArray(before) ? before : []
    object[field.name] = list
    if (tag !== field.tag) {
      const stop = reader.delimited(end)
      while (reader.at < stop) {
        if (--this.#left < 0) throw new DecodedSizeError()
        list.push(this.#value(field, stop) ?? null)
      }
      return
    }
    for (;;) {
      if (--this.#left < 0) throw new DecodedSizeError()
      list.push(this.#value(field, end) ?? null)
      if (!this.#nextIs(field.tag, end)) return
    }
  }

  #map(object: JsonObject, field: MessageField, end: number, again: boolean): void {
    const before = again ? object[field.name] : undefined
    const map = isObject(before) ? before : {}
    object[field.name] = map
    do this.#entry(map, field, this.#reader.delimited(end))
    while (this.#nextIs(field.tag, end))
  }

  #entry(map: JsonObject, field: MessageField, end: number): void {
    const reader = this.#reader
    const valueTag = 16 + wireOfItem(field)
    let key = ''
    let value: Json | undefined
    if (--this.#left < 0) throw new DecodedSizeError()
    while (reader.at < end) {
      const tag = reader.varint(end)
      if (tag === 0x0a) key = reader.string(end)
      else if (tag === valueTag) value = this.#value(field, end) ?? null
      else if (tag === 8 || tag === 16 || (tag > 8 && tag < 24))
        throw new ProtobufError(`an entry of ${field.name} with wire type ${tag & 7}`)
      else reader.skip(tag, end)
    }
    setMember(map, key, value === undefined ? zeroItem(field) : value)
  }

  /** Goes past the tag when it is the one. */
  #nextIs(tag: number, end: number): boolean {
    const reader = this.#reader
    const { at } = reader
    if (at >= end) return false
    if (reader.varint(end) === tag) return true
    reader.at = at
    return false
  }

  /** Numbers in a list may stand together in one field. */
  #packed(tag: number, field: MessageField): boolean {
    const isNumber = field.wire === Wire.varint || field.wire === Wire.fixed64
    return isNumber && field.shape === Shape.list && tag === field.number * 8 + Wire.bytes
  }

  /** undefined for what JSON has no value for: the zero time, no JSON. */
  #value(field: MessageField, end: number): Json | undefined {
    const reader = this.#reader
    switch (field.op) {
      case Op.string:
        return reader.string(end)
      case Op.message:
        return this.#message(field.message, end)
      case Op.boolean:
        return reader.boolean(end)
      case Op.int32:
        return reader.int32(end)
      case Op.int64:
        return reader.int64(end)
      case Op.double:
        return reader.double(end)
      case Op.bytes:
        return reader.base64(end)
      case Op.time:
      case Op.microTime:
        return this.#time(field.op === Op.microTime, reader.delimited(end)) ?? undefined
      default:
        return this.#special(field, reader.delimited(end))
    }
  }

  #special(field: MessageField, end: number): Json | undefined {
    switch (field.op) {
      case Op.quantity:
        return this.#quantity(end)
      case Op.duration:
        return formatDuration(BigInt(this.#numbers(end).first))
      case Op.intOrString:
        return this.#intOrString(end)
      case Op.raw:
      case Op.fieldSet:
        return this.#raw(field.op === Op.fieldSet, end)
      case Op.strings:
        return this.#strings(0x0a, end)
      default:
        return this.#union(field, end)
    }
  }

  /** A message of numbers in its first two fields and a text in its third. */
  #numbers(end: number): { first: number | bigint; second: number; third: string } {
    const reader = this.#reader
    const found = { first: 0 as number | bigint, second: 0, third: '' }
    while (reader.at < end) {
      const tag = reader.varint(end)
      if (tag === 0x08) found.first = reader.int64(end)
      else if (tag === 0x10) found.second = reader.int32(end)
      else if (tag === 0x1a) found.third = reader.string(end)
      else reader.skip(tag, end)
    }
    return found
  }

  #time(micro: boolean, end: number): string | null {
    if (this.#reader.at === end) return null
    const { first, second } = this.#numbers(end)
    const seconds = Number(first)
    if (!micro && seconds === this.#lastSeconds) return this.#lastTime
    const text = formatTimestamp(seconds, second, micro)
    if (text === undefined) throw new ProtobufError(`a time ${first} seconds from 1970, in no year from 0 to 9999`)
    if (!micro) {
      this.#lastSeconds = seconds
      this.#lastTime = text
    }
    return text
  }

  #quantity(end: number): string {
    const texts = this.#strings(0x0a, end)
    if (texts.length === 0) return '0'
    try {
      return canonicalQuantity(texts.at(-1) as string)
    } catch (error) {
      if (error instanceof QuantityError) throw new ProtobufError(error.message)
      throw error
    }
  }

  #intOrString(end: number): number | string {
    const { first: type, second: number, third: text } = this.#numbers(end)
    if (type === 0) return number
    if (type === 1) return text
    throw new ProtobufError(`a value that is neither a number nor a string but of type ${type}`)
  }

  #raw(isFieldSet: boolean, end: number): Json | undefined {
    let raw: Buffer | undefined
    const reader = this.#reader
    while (reader.at < end) {
      const tag = reader.varint(end)
      if (tag === 0x0a) raw = reader.view(end)
      else reader.skip(tag, end)
    }
    if (raw === undefined || raw.length === 0) return undefined
    const isRequest = this.#left <= MAX_DECODED_VALUES
    const known = isFieldSet && !isRequest ? fieldTexts.setOf(raw.toString()) : undefined
    if (known !== undefined) return known
    try {
      if (isRequest) checkJsonSize(raw)
      return parseJson(raw).value
    } catch (error) {
      if (error instanceof JsonSyntaxError) throw new ProtobufError(`raw JSON: ${error.message}`)
      throw error
    }
  }

  #strings(itemTag: number, end: number): Json[] {
    const reader = this.#reader
    const strings: Json[] = []
    while (reader.at < end) {
      const tag = reader.varint(end)
      if (tag === itemTag) strings.push(reader.string(end))
      else reader.skip(tag, end)
    }
    return strings
  }

  /** A list wins over a schema, a schema over a boolean. */
  #union({ op, message }: MessageField, end: number): Json | undefined {
    const reader = this.#reader
    const schemaTag = op === Op.schemaOrBool ? 0x12 : 0x0a
    const list: Json[] = []
    let schema: JsonObject | undefined
    let allows = false
    while (reader.at < end) {
      const tag = reader.varint(end)
      if (tag === schemaTag) schema = this.#message(message, end, schema)
      else if (op === Op.schemaOrBool && tag === 0x08) allows = reader.boolean(end)
      else if (tag === 0x12) list.push(op === Op.schemaOrArray ? this.#message(message, end) : reader.string(end))
      else reader.skip(tag, end)
    }
    if (list.length > 0) return list
    return schema ?? (op === Op.schemaOrBool ? allows : undefined)
  }
}

function wireOfItem({ op }: MessageField): number {
  if (op === Op.boolean || op === Op.int32 || op === Op.int64) return Wire.varint
  return op === Op.double ? Wire.fixed64 : Wire.bytes
}

/** What an entry without a value holds. */
function zeroItem(field: MessageField): Json {
  switch (field.op) {
    case Op.string:
    case Op.bytes:
      return ''
    case Op.boolean:
      return false
    case Op.int32:
    case Op.int64:
    case Op.double:
    case Op.intOrString:
      return 0
    case Op.quantity:
      return '0'
    case Op.message: {
      const object: JsonObject = {}
      if (field.message.json !== undefined) fill(object, field.message.json)
      return object
    }
    default:
      return null
  }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isZero = (value: Json): boolean =>
  value === 0 || value === false || value === '' || (Array.isArray(value) && value.length === 0)

const wrongWire = (tag: number, field: MessageField, plan: MessagePlan): ProtobufError =>
  new ProtobufError(`wire type ${tag & 7} in the field ${plan.name}.${field.name}, which has wire type ${field.wire}`)

/**
 * Thread: any. Canonical trees as protobuf messages, byte for byte as Kubernetes writes them: fields by number, maps by
 * key, values that are no pointers even when they are zero. Everything is written backwards, see BackwardWriter.
 */
import { parseDuration } from '../duration.js'
import { printRaw } from '../json/print-raw.js'
import { fieldTexts } from '../managed-fields/field-texts.js'
import type { Json, JsonObject, KubeObject } from '../object.js'
import type { StructSchema } from '../schema.js'
import { BackwardWriter } from './backward-writer.js'
import { type MessageField, type MessagePlan, messagePlan, Op, Shape } from './message-plan.js'
import { ProtobufError } from './protobuf-error.js'
import { parseTimestamp } from './timestamp.js'

/** Scratch memory: filled and emptied within one call, and nothing in a call waits. */
const writer = new BackwardWriter()

const EMPTY: JsonObject = Object.freeze({})
const SURROGATE = /[\ud800-\udfff]/
const MAX_INT32 = 2147483647

/** What is written after a message and before it. */
export interface Surroundings {
  readonly after: Uint8Array
  before(writer: BackwardWriter, messageLength: number): void
}

/** The message, alone or with what surrounds it. Throws ProtobufError for a tree that does not fit its type. */
export function encodeMessage(object: KubeObject | JsonObject, schema: StructSchema, around?: Surroundings): Buffer {
  try {
    if (around !== undefined) writer.bytes(around.after)
    const start = writer.length
    writeFields(object as JsonObject, messagePlan(schema))
    around?.before(writer, writer.length - start)
    return writer.take()
  } catch (error) {
    writer.reset()
    throw error
  }
}

function writeFields(object: JsonObject, plan: MessagePlan): void {
  const { fields } = plan
  for (let i = fields.length - 1; i >= 0; i--) {
    const field = fields[i]!
    const value = field.op === Op.embedded ? object : object[field.name]
    if (value === undefined || value === null) {
      if (field.always) writeZero(field)
    } else if (field.shape === Shape.single) {
      writeValue(value, field)
      writeTag(field.tag)
    } else if (field.shape === Shape.list) writeList(value, field)
    else writeMap(value, field)
  }
}

/** Only the first fifteen numbers fit into one byte. */
function writeTag(tag: number): void {
  if (tag < 0x80) writer.byte(tag)
  else writer.varint(tag)
}

function writeZero(field: MessageField): void {
  if (field.op === Op.message) writeNested(EMPTY, field.message)
  else if (field.op <= Op.int64) writer.byte(0)
  else writeZeroMessage(field.op)
  writeTag(field.tag)
}

function writeZeroMessage(op: Op): void {
  switch (op) {
    case Op.double:
      writer.double(0)
      return
    case Op.duration:
      writeDuration(0n)
      return
    case Op.quantity:
      writeQuantity('0')
      return
    case Op.intOrString:
      writeIntOrString(0)
      return
    default:
      // Times and raw JSON: a message with nothing in it.
      writer.byte(0)
  }
}

function writeNested(object: JsonObject, plan: MessagePlan): void {
  const before = writer.length
  writeFields(object, plan)
  writer.varint(writer.length - before)
}

function writeList(value: Json, field: MessageField): void {
  if (!Array.isArray(value)) throw misfit(value, field)
  for (let i = value.length - 1; i >= 0; i--) {
    writeItem(value[i], field)
    writeTag(field.tag)
  }
}

function writeMap(value: Json, field: MessageField): void {
  if (!isObject(value)) throw misfit(value, field)
  const keys = sortedKeys(value)
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i]!
    const item = value[key]
    if (item === undefined) continue
    const before = writer.length
    // No bytes at all differ from none.
    if (item !== null || field.op !== Op.bytes) {
      writeItem(item, field)
      writer.byte(0x12)
    }
    writer.string(key)
    writer.byte(0x0a)
    writer.varint(writer.length - before)
    writeTag(field.tag)
  }
}

/** Within lists and maps null is the zero value. */
function writeItem(item: Json | undefined, field: MessageField): void {
  if (item !== null && item !== undefined) writeValue(item, field)
  else if (field.op === Op.message) writeNested(EMPTY, field.message)
  else if (field.op <= Op.int64) writer.byte(0)
  else writeZeroMessage(field.op)
}

function writeValue(value: Json, field: MessageField): void {
  switch (field.op) {
    case Op.string:
      if (typeof value !== 'string') throw misfit(value, field)
      writer.string(value)
      return
    case Op.message:
    case Op.embedded:
      if (!isObject(value)) throw misfit(value, field)
      writeNested(value, field.message)
      return
    case Op.boolean:
      if (typeof value !== 'boolean') throw misfit(value, field)
      writer.byte(value ? 1 : 0)
      return
    case Op.int32:
    case Op.int64:
      writer.int64(integer(value, field))
      return
    case Op.double:
      if (typeof value !== 'number' && typeof value !== 'bigint') throw misfit(value, field)
      writer.double(Number(value))
      return
    case Op.raw:
      writeRaw(printRaw(value))
      return
    case Op.fieldSet:
      writeRaw(isObject(value) ? fieldTexts.textOf(value) : printRaw(value))
      return
    case Op.strings:
      writeStrings(value, field)
      return
    case Op.schemaOrArray:
    case Op.schemaOrBool:
    case Op.schemaOrStrings:
      writeUnion(value, field)
      return
    default:
      writeText(value, field)
  }
}

/** What JSON has as text, and the wire as a message. */
function writeText(value: Json, field: MessageField): void {
  if (field.op === Op.intOrString) {
    if (typeof value !== 'string' && typeof value !== 'number') throw misfit(value, field)
    writeIntOrString(typeof value === 'string' ? value : Number(integer(value, field)))
    return
  }
  if (typeof value !== 'string') throw misfit(value, field)
  switch (field.op) {
    case Op.bytes: {
      const bytes = Buffer.from(value, 'base64')
      writer.bytes(bytes)
      writer.varint(bytes.length)
      return
    }
    case Op.quantity:
      writeQuantity(value)
      return
    case Op.duration:
      writeDuration(parseDuration(value))
      return
    default:
      writeTime(value, field)
  }
}

function writeTime(text: string, field: MessageField): void {
  const time = parseTimestamp(text)
  if (time === undefined) throw misfit(text, field)
  const before = writer.length
  writer.varint(field.op === Op.microTime ? time.nanos : 0)
  writer.byte(0x10)
  writer.int64(time.seconds)
  writer.byte(0x08)
  writer.varint(writer.length - before)
}

function writeQuantity(text: string): void {
  const before = writer.length
  writer.string(text)
  writer.byte(0x0a)
  writer.varint(writer.length - before)
}

function writeDuration(nanos: bigint): void {
  const before = writer.length
  writer.int64(nanos)
  writer.byte(0x08)
  writer.varint(writer.length - before)
}

function writeIntOrString(value: number | string): void {
  const isText = typeof value === 'string'
  const before = writer.length
  writer.string(isText ? value : '')
  writer.byte(0x1a)
  writer.int64(isText ? 0 : value)
  writer.byte(0x10)
  writer.byte(isText ? 1 : 0)
  writer.byte(0x08)
  writer.varint(writer.length - before)
}

function writeRaw(text: string): void {
  const before = writer.length
  writer.string(text)
  writer.byte(0x0a)
  writer.varint(writer.length - before)
}

function writeStrings(value: Json, field: MessageField): void {
  if (!Array.isArray(value)) throw misfit(value, field)
  const before = writer.length
  writeStringItems(value, 0x0a, field)
  writer.varint(writer.length - before)
}

function writeStringItems(items: Json[], tag: number, field: MessageField): void {
  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i] ?? ''
    if (typeof item !== 'string') throw misfit(item, field)
    writer.string(item)
    writer.byte(tag)
  }
}

/** A schema or a boolean, a schema or schemas, a schema or names. */
function writeUnion(value: Json, field: MessageField): void {
  const before = writer.length
  const schema = isObject(value) ? value : undefined
  if (field.op === Op.schemaOrBool) {
    if (schema === undefined && typeof value !== 'boolean') throw misfit(value, field)
    if (schema !== undefined) writeAlternative(schema, 0x12, field)
    writer.byte(value === false ? 0 : 1)
    writer.byte(0x08)
  } else if (schema !== undefined) writeAlternative(schema, 0x0a, field)
  else if (!Array.isArray(value)) throw misfit(value, field)
  else if (field.op === Op.schemaOrStrings) writeStringItems(value, 0x12, field)
  else
    for (let i = value.length - 1; i >= 0; i--) {
      const item = value[i] ?? EMPTY
      if (!isObject(item)) throw misfit(item, field)
      writeAlternative(item, 0x12, field)
    }
  writer.varint(writer.length - before)
}

function writeAlternative(schema: JsonObject, tag: number, field: MessageField): void {
  writeNested(schema, field.message)
  writer.byte(tag)
}

function integer(value: Json, field: MessageField): number | bigint {
  if (typeof value === 'bigint' && field.op === Op.int64) return value
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw misfit(value, field)
  if (field.op !== Op.int64 && (value > MAX_INT32 || value < -MAX_INT32 - 1)) throw misfit(value, field)
  return value
}

/** By the bytes of the keys, which is not JavaScript's order when there are surrogates. */
function sortedKeys(map: JsonObject): string[] {
  const keys = Object.keys(map)
  for (let i = 1; i < keys.length; i++) if (keys[i]! < keys[i - 1]! || SURROGATE.test(keys[i]!)) return sortKeys(keys)
  return keys
}

function sortKeys(keys: string[]): string[] {
  if (!keys.some((key) => SURROGATE.test(key))) return keys.sort()
  return keys
    .map((key) => ({ key, bytes: Buffer.from(key) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ key }) => key)
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function misfit(value: Json, { name }: MessageField): ProtobufError {
  const kind = Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `${typeof value} ${value}`
  return new ProtobufError(`the field ${name} cannot be ${kind}`)
}

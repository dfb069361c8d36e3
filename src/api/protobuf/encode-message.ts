/**
 * Thread: any. Canonical trees as protobuf messages, byte for byte as Kubernetes writes them: fields by number, maps by
 * key, values that are no pointers even when they are zero. Everything is written backwards, see BackwardWriter.
 */
import { formatDuration, parseDuration } from '../duration.js'
import { printRaw } from '../json/print-raw.js'
import { fieldTexts } from '../managed-fields/field-texts.js'
import type { Json, JsonObject, KubeObject } from '../object.js'
import { canonicalQuantity } from '../quantity.js'
import type { StructSchema } from '../schema.js'
import { BackwardWriter } from './backward-writer.js'
import { type MessageField, type MessagePlan, messagePlan, Op, Shape } from './message-plan.js'
import { ProtobufError } from './protobuf-error.js'
import { formatTimestamp, parseTimestamp } from './timestamp.js'

/** Scratch memory: filled and emptied within one call, and nothing in a call waits. */
const writer = new BackwardWriter()
/** By kind, texts that reading leaves as they are: objects have the same few, and finding out takes longer than writing them. */
const canonical = { quantities: new Set<string>(), times: new Set<string>(), microTimes: new Set<string>() }
const MAX_TEXTS = 1024
const MAX_TEXT_LENGTH = 32

const EMPTY: JsonObject = Object.freeze({})
const SURROGATE = /[\ud800-\udfff]/
const MAX_INT32 = 2147483647

/** What is written after a message and before it. */
export interface Surroundings {
  readonly after: Uint8Array
  before(writer: BackwardWriter, messageLength: number): void
}

export interface CheckedMessage {
  readonly bytes: Buffer
  /**
   * Reading the bytes gives the tree that was written: nothing in it is left out, put in or written another way. Only the order of members
   * may differ. False wherever that is not certain.
   */
  readonly isCanonical: boolean
}

/** The message, alone or with what surrounds it. Throws ProtobufError for a tree that does not fit its type. */
export function encodeMessage(object: KubeObject | JsonObject, schema: StructSchema, around?: Surroundings): Buffer {
  return encodeChecked(object, schema, around).bytes
}

/** The same, and whether it has to be read to know what will be read. Kind and apiVersion count as what surroundings have. */
export function encodeChecked(
  object: KubeObject | JsonObject,
  schema: StructSchema,
  around?: Surroundings,
): CheckedMessage {
  try {
    if (around !== undefined) writer.bytes(around.after)
    const start = writer.length
    writeMessage(object as JsonObject, messagePlan(schema), around === undefined ? 0 : namesOf(object as JsonObject))
    around?.before(writer, writer.length - start)
    const isCanonical = writer.isCanonical
    return { bytes: writer.take(), isCanonical }
  } catch (error) {
    writer.reset()
    throw error
  }
}

/** How many of the members an envelope carries. */
function namesOf({ kind, apiVersion }: JsonObject): number {
  return (
    (typeof kind === 'string' && kind !== '' ? 1 : 0) + (typeof apiVersion === 'string' && apiVersion !== '' ? 1 : 0)
  )
}

/** The fields; a member that none of them is, and one that reading would put in, tell that reading gives another tree. */
function writeMessage(object: JsonObject, plan: MessagePlan, known: number): void {
  let members = known + writeFields(object, plan)
  if (!writer.isCanonical) return
  for (const _key in object) members--
  if (members !== 0) writer.isCanonical = false
  else if (plan.json !== undefined)
    for (const field of plan.json.filled) if (object[field.name] === undefined) writer.isCanonical = false
}

/** Gives how many members of the object there were. */
function writeFields(object: JsonObject, plan: MessagePlan): number {
  const { fields } = plan
  let members = 0
  for (let i = fields.length - 1; i >= 0; i--) {
    const field = fields[i]!
    if (field.op === Op.embedded) {
      const before = writer.length
      members += writeFields(object, field.message)
      writer.varint(writer.length - before)
      writeTag(field.tag)
      continue
    }
    const value = object[field.name]
    if (value !== undefined) members++
    if (value === undefined || value === null) {
      if (value === null ? !field.keepsNull : !field.keepsAbsence) writer.isCanonical = false
      if (field.always) writeZero(field)
    } else if (field.shape === Shape.single) {
      if (field.dropsZero && isZero(value)) writer.isCanonical = false
      writeValue(value, field)
      writeTag(field.tag)
    } else if (field.shape === Shape.list) writeList(value, field)
    else writeMap(value, field)
  }
  return members
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
  writeMessage(object, plan, 0)
  writer.varint(writer.length - before)
}

function writeList(value: Json, field: MessageField): void {
  if (!Array.isArray(value)) throw misfit(value, field)
  if (value.length === 0) writer.isCanonical = false
  for (let i = value.length - 1; i >= 0; i--) {
    writeItem(value[i], field)
    writeTag(field.tag)
  }
}

function writeMap(value: Json, field: MessageField): void {
  if (!isObject(value)) throw misfit(value, field)
  const keys = sortedKeys(value)
  if (keys.length === 0) writer.isCanonical = false
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i]!
    const item = value[key]
    if (item === undefined) {
      writer.isCanonical = false
      continue
    }
    const before = writer.length
    if (item === null) writer.isCanonical = false
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
  if (item !== null && item !== undefined) {
    writeValue(item, field)
    return
  }
  writer.isCanonical = false
  if (field.op === Op.message) writeNested(EMPTY, field.message)
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
      if (!isObject(value)) throw misfit(value, field)
      writeNested(value, field.message)
      return
    case Op.boolean:
      if (typeof value !== 'boolean') throw misfit(value, field)
      writer.byte(value ? 1 : 0)
      return
    case Op.int32:
    case Op.int64:
      if (typeof value === 'bigint' || Object.is(value, -0)) writer.isCanonical = false
      writer.int64(integer(value, field))
      return
    case Op.double:
      if (typeof value !== 'number' && typeof value !== 'bigint') throw misfit(value, field)
      if (typeof value === 'bigint') writer.isCanonical = false
      writer.double(Number(value))
      return
    case Op.raw:
      // Members that are undefined, numbers with another text: reading tells.
      writer.isCanonical = false
      writeRaw(printRaw(value))
      return
    case Op.fieldSet:
      if (!isObject(value)) writer.isCanonical = false
      writeRaw(isObject(value) ? fieldTexts.textOf(value) : printRaw(value))
      return
    case Op.strings:
      writer.isCanonical = false
      writeStrings(value, field)
      return
    case Op.schemaOrArray:
    case Op.schemaOrBool:
    case Op.schemaOrStrings:
      writer.isCanonical = false
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
    if (Object.is(value, -0)) writer.isCanonical = false
    writeIntOrString(typeof value === 'string' ? value : Number(integer(value, field)))
    return
  }
  if (typeof value !== 'string') throw misfit(value, field)
  switch (field.op) {
    case Op.bytes: {
      const bytes = Buffer.from(value, 'base64')
      if (bytes.length === 0 || bytes.toString('base64') !== value) writer.isCanonical = false
      writer.bytes(bytes)
      writer.varint(bytes.length)
      return
    }
    case Op.quantity:
      if (!isKept(value, canonical.quantities, canonicalQuantity)) writer.isCanonical = false
      writeQuantity(value)
      return
    case Op.duration: {
      const nanos = parseDuration(value)
      if (formatDuration(nanos) !== value) writer.isCanonical = false
      writeDuration(nanos)
      return
    }
    default:
      writeTime(value, field)
  }
}

function writeTime(text: string, field: MessageField): void {
  const time = parseTimestamp(text)
  if (time === undefined) throw misfit(text, field)
  const isMicro = field.op === Op.microTime
  const known = isMicro ? canonical.microTimes : canonical.times
  if (!isKept(text, known, () => formatTimestamp(time.seconds, time.nanos, isMicro))) writer.isCanonical = false
  const before = writer.length
  writer.varint(isMicro ? time.nanos : 0)
  writer.byte(0x10)
  writer.int64(time.seconds)
  writer.byte(0x08)
  writer.varint(writer.length - before)
}

/** Whether reading gives the text again. What cannot be read is not: its reader says what is wrong with it. */
function isKept(text: string, known: Set<string>, read: (text: string) => string | null | undefined): boolean {
  if (known.has(text)) return true
  try {
    if (read(text) !== text) return false
  } catch {
    return false
  }
  if (text.length > MAX_TEXT_LENGTH) return true
  if (known.size >= MAX_TEXTS) known.clear()
  known.add(text)
  return true
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

/** As the decoder has it. */
const isZero = (value: Json): boolean =>
  value === '' || value === 0 || value === false || value === 0n || (Array.isArray(value) && value.length === 0)

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function misfit(value: Json, { name }: MessageField): ProtobufError {
  const kind = Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `${typeof value} ${value}`
  return new ProtobufError(`the field ${name} cannot be ${kind}`)
}

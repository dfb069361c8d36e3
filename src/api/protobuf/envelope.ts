/**
 * Thread: any. Objects as they travel and as they are stored: four bytes that say what follows, then a message with the
 * object's kind and, as bytes, the object. Lists and watch events are put together from objects that are encoded already.
 */
import type { JsonObject, KubeObject } from '../object.js'
import type { StructSchema } from '../schema.js'
import type { BackwardWriter } from './backward-writer.js'
import { ByteReader } from './byte-reader.js'
import { decodeFrom } from './decode-message.js'
import { type CheckedMessage, encodeChecked, encodeMessage } from './encode-message.js'
import { ProtobufError } from './protobuf-error.js'

/** k8s and a zero byte. */
const MAGIC = Buffer.from('k8s\0')
/** Neither a content encoding nor a content type. */
const TAIL = Buffer.from([0x1a, 0, 0x22, 0])

export interface TypeMeta {
  readonly apiVersion: string
  readonly kind: string
}

export interface Envelope extends TypeMeta {
  /** The message alone; a view. */
  readonly raw: Buffer
}

export interface DecodedProtobuf extends TypeMeta {
  readonly object: KubeObject
}

export type SchemaLookup = (apiVersion: string, kind: string) => StructSchema | undefined

export const isProtobuf = (bytes: Uint8Array): boolean =>
  bytes.length >= 4 && bytes[0] === 0x6b && bytes[1] === 0x38 && bytes[2] === 0x73 && bytes[3] === 0

/** The object in its envelope, named as it names itself. */
export function encodeProtobuf(object: KubeObject | JsonObject, schema: StructSchema): Buffer {
  return encodeCheckedProtobuf(object, schema).bytes
}

/** The same, and whether reading gives the object. */
export function encodeCheckedProtobuf(object: KubeObject | JsonObject, schema: StructSchema): CheckedMessage {
  return encodeChecked(object, schema, {
    after: TAIL,
    before: (writer, messageLength) => {
      writer.varint(messageLength)
      writer.byte(0x12)
      const start = writer.length
      writeName(writer, object.kind, 0x12)
      writeName(writer, object.apiVersion, 0x0a)
      writer.varint(writer.length - start)
      writer.byte(0x0a)
      writer.bytes(MAGIC)
    },
  })
}

function writeName(writer: BackwardWriter, name: unknown, tag: number): void {
  writer.string(typeof name === 'string' ? name : '')
  writer.byte(tag)
}

/** The message may come in pieces. */
export function encodeEnvelope({ apiVersion, kind }: TypeMeta, raw: readonly Uint8Array[]): Buffer {
  const name = [field(0x0a, Buffer.from(apiVersion)), field(0x12, Buffer.from(kind))].flat()
  const rawLength = raw.reduce((sum, piece) => sum + piece.length, 0)
  return Buffer.concat([MAGIC, head(0x0a, byteLength(name)), ...name, head(0x12, rawLength), ...raw, TAIL])
}

/** A list of encoded items: messages, without envelopes. */
export function encodeListProtobuf(
  list: TypeMeta,
  metadata: JsonObject,
  metaSchema: StructSchema,
  items: readonly Uint8Array[],
): Buffer {
  const pieces: Uint8Array[] = field(0x0a, encodeMessage(metadata, metaSchema))
  for (const item of items) pieces.push(head(0x12, item.length), item)
  return encodeEnvelope(list, pieces)
}

/** One event of a watch: a length of four bytes, the event's type and the object in its envelope. */
export function watchFrame(type: string, encodedObject: Uint8Array): Buffer {
  const event = [field(0x0a, Buffer.from(type)), head(0x12, 0)].flat()
  const raw = head(0x0a, encodedObject.length)
  event[event.length - 1] = head(0x12, raw.length + encodedObject.length)
  const length = Buffer.allocUnsafe(4)
  length.writeUInt32BE(byteLength(event) + raw.length + encodedObject.length)
  return Buffer.concat([length, ...event, raw, encodedObject])
}

/** Throws ProtobufError for bytes without an envelope. */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  const reader = new ByteReader(bytes)
  const { apiVersion, kind, start, end } = openEnvelope(reader)
  return { apiVersion, kind, raw: reader.bytes.subarray(start, end) }
}

/** Where the message lies. */
interface OpenEnvelope extends TypeMeta {
  readonly start: number
  readonly end: number
}

function openEnvelope(reader: ByteReader): OpenEnvelope {
  const end = reader.bytes.length
  if (!isProtobuf(reader.bytes)) throw new ProtobufError('the bytes do not begin as an object in protobuf does')
  reader.at = MAGIC.length
  if (reader.at === end) throw new ProtobufError('nothing follows the first four bytes')
  let { apiVersion, kind } = NO_NAME
  let [from, to] = [0, 0]
  while (reader.at < end) {
    const tag = reader.varint(end)
    if (tag === 0x0a) ({ apiVersion, kind } = typeMeta(reader, reader.delimited(end)))
    else if (tag === 0x12) {
      to = reader.delimited(end)
      from = reader.at
      reader.at = to
    } else reader.skip(tag, end)
  }
  return { apiVersion, kind, start: from, end: to }
}

const NO_NAME: TypeMeta = { apiVersion: '', kind: '' }

function typeMeta(reader: ByteReader, end: number): TypeMeta {
  const found = { apiVersion: '', kind: '' }
  while (reader.at < end) {
    const tag = reader.varint(end)
    if (tag === 0x0a) found.apiVersion = reader.string(end)
    else if (tag === 0x12) found.kind = reader.string(end)
    else reader.skip(tag, end)
  }
  return found
}

/** The object in an envelope, with kind and apiVersion as the envelope names them. Throws ProtobufError. */
export function decodeProtobuf(bytes: Uint8Array, lookup: SchemaLookup): DecodedProtobuf {
  const reader = new ByteReader(bytes)
  const { apiVersion, kind, start, end } = openEnvelope(reader)
  const schema = lookup(apiVersion, kind)
  if (schema === undefined) throw new ProtobufError(`no kind ${JSON.stringify(kind)} in ${JSON.stringify(apiVersion)}`)
  const named: JsonObject = {}
  if (kind !== '') named['kind'] = kind
  if (apiVersion !== '') named['apiVersion'] = apiVersion
  reader.at = start
  return { object: decodeFrom(reader, end, schema, named) as KubeObject, apiVersion, kind }
}

const field = (tag: number, value: Uint8Array): Uint8Array[] => [head(tag, value.length), value]

/** The tag of a field and the length of what it holds. */
function head(tag: number, length: number): Uint8Array {
  const bytes = [tag]
  let rest = length
  while (rest >= 0x80) {
    bytes.push((rest % 128) | 0x80)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}

const byteLength = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, piece) => sum + piece.length, 0)

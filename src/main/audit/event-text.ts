/**
 * Thread: audit. An event as the text that is written: its bodies become objects in it, and an event that is too large
 * loses them.
 */
import { gunzipSync } from 'node:zlib'
import { BuiltinSchemas } from '../../api/builtin-schema.js'
import { parseGroupVersion } from '../../api/group-version.js'
import { parseJson } from '../../api/json/parse.js'
import { printRaw } from '../../api/json/print-raw.js'
import type { Json, JsonObject } from '../../api/object.js'
import { decodeMessage } from '../../api/protobuf/decode-message.js'
import { decodeEnvelope, isProtobuf } from '../../api/protobuf/envelope.js'
import { parseYaml } from '../../api/yaml/yaml.js'
import type { AuditBody, AuditEvent, AuditItem } from '../../protocol/main-audit.js'

const schemas = new BuiltinSchemas()

/** An event with its bodies read. */
export interface ReadEvent {
  readonly event: AuditEvent
  /** The request's body as JSON text; undefined when there is none or it could not be read. */
  readonly requestObject: string | undefined
  readonly responseObject: string | undefined
}

export function readItem({ event, requestBody, responseBody, statusBody, omitManagedFields }: AuditItem): ReadEvent {
  return {
    event: statusBody === undefined ? event : withStatus(event, statusBody),
    requestObject: requestBody && objectText(requestBody, omitManagedFields),
    responseObject: responseBody && objectText(responseBody, omitManagedFields),
  }
}

export function eventText({ event, requestObject, responseObject }: ReadEvent): string {
  let text = JSON.stringify(event)
  if (requestObject !== undefined) text = `${text.slice(0, -1)},"requestObject":${requestObject}}`
  if (responseObject !== undefined) text = `${text.slice(0, -1)},"responseObject":${responseObject}}`
  return text
}

/** The event, without its bodies when it is too large; undefined when it is still too large then. */
export function truncated(read: ReadEvent, maxBytes: number): ReadEvent | undefined {
  if (Buffer.byteLength(eventText(read)) <= maxBytes) return read
  const annotations = { ...read.event.annotations, 'audit.k8s.io/truncated': 'true' }
  const short = { event: { ...read.event, annotations }, requestObject: undefined, responseObject: undefined }
  return Buffer.byteLength(eventText(short)) <= maxBytes ? short : undefined
}

function parsed({ bytes, contentType, gzip }: AuditBody): Json | undefined {
  const plain = gzip ? gunzipSync(bytes) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    if (isProtobuf(plain)) return protobufObject(plain)
    if (contentType.includes('yaml')) return parseYaml(plain.toString()).value
    return parseJson(plain).value
  } catch {
    // A body that is no object of any kind is not shown as one.
    return undefined
  }
}

function protobufObject(bytes: Uint8Array): Json | undefined {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes)
  const version = parseGroupVersion(apiVersion)
  const schema = version && schemas.kind(version.group, version.version, kind)
  return schema === undefined ? undefined : { kind, apiVersion, ...decodeMessage(raw, schema) }
}

function objectText(body: AuditBody, omitManagedFields: boolean): string | undefined {
  const value = parsed(body)
  if (value === undefined) return undefined
  if (omitManagedFields) dropManagedFields(value)
  return printRaw(value)
}

function dropManagedFields(value: Json): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  const { metadata, items } = value as JsonObject
  if (typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata))
    delete (metadata as JsonObject)['managedFields']
  if (Array.isArray(items)) for (const item of items) dropManagedFields(item)
}

/** Adds the reason of a failure, which stands in the body of the answer. */
function withStatus(event: AuditEvent, body: AuditBody): AuditEvent {
  const value = parsed(body)
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value['kind'] !== 'Status') return event
  const { status, message, reason, details, code } = value as JsonObject
  const stated = Object.entries({ status, message, reason, details, code }).filter(([, part]) => part !== undefined)
  return { ...event, responseStatus: { metadata: {}, ...Object.fromEntries(stated) } }
}

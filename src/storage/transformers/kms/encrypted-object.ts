/** Thread: any. What KMS v2 leaves in storage after its prefix: the data, and how to get the key that opens it. */
import { createHash } from 'node:crypto'
import { TransformError } from '../../contract/transform-error.js'
import { type Annotations, readMapEntry, readString, readWire, WireWriter } from './wire.js'

/** How the secret that the plugin decrypts is used. */
export const DekSourceType = {
  /** The AES-GCM key itself: written by Kubernetes before 1.29 and read for ever. */
  AES_GCM_KEY: 0,
  /** The seed of ExtendedNonceGcmTransformer. */
  HKDF_SHA256_XNONCE_AES_GCM_SEED: 1,
} as const
export type DekSourceType = (typeof DekSourceType)[keyof typeof DekSourceType]

/** How a data key is found again: everything of an EncryptedObject but its data. */
export interface DekSource {
  readonly keyId: string
  readonly encryptedDekSource: Uint8Array
  readonly annotations: Annotations
  readonly type: DekSourceType
}

export interface EncryptedObject extends DekSource {
  readonly encryptedData: Uint8Array
}

const ANNOTATIONS_MAX_BYTES = 32 * 1024
const KEY_ID_MAX_BYTES = 1024
const ENCRYPTED_DEK_SOURCE_MAX_BYTES = 1024

export function encodeEncryptedObject(object: EncryptedObject): Uint8Array {
  return new WireWriter()
    .bytes(1, object.encryptedData)
    .string(2, object.keyId)
    .bytes(3, object.encryptedDekSource)
    .map(4, object.annotations)
    .enum(5, object.type)
    .finish()
}

export function decodeEncryptedObject(message: Uint8Array): EncryptedObject {
  let encryptedData: Uint8Array = new Uint8Array(0)
  let keyId = ''
  let encryptedDekSource: Uint8Array = new Uint8Array(0)
  const annotations = new Map<string, Uint8Array>()
  let type = 0
  for (const { field, bytes, number } of readWire(message)) {
    if (field === 1) encryptedData = bytes
    else if (field === 2) keyId = readString(bytes)
    else if (field === 3) encryptedDekSource = bytes
    else if (field === 4) readMapEntry(bytes, annotations)
    else if (field === 5) type = number
  }
  if (type !== DekSourceType.AES_GCM_KEY && type !== DekSourceType.HKDF_SHA256_XNONCE_AES_GCM_SEED) {
    throw new TransformError('malformed', `the encrypted object has an unknown kind of key source: ${type}`)
  }
  if (encryptedData.length === 0) throw new TransformError('malformed', 'the encrypted object holds no data')
  const object = { encryptedData, keyId, encryptedDekSource, annotations, type }
  validateDekSource(object)
  return object
}

/** Throws TransformError when the source is not what a plugin may answer, or what may be stored. */
export function validateDekSource(source: DekSource): void {
  const problem =
    sizeProblem('encrypted DEK source', source.encryptedDekSource.length, ENCRYPTED_DEK_SOURCE_MAX_BYTES) ??
    keyIdProblem(source.keyId) ??
    annotationsProblem(source.annotations)
  if (problem !== undefined) throw new TransformError('malformed', problem)
}

export function keyIdProblem(keyId: string): string | undefined {
  return sizeProblem('key ID', Buffer.byteLength(keyId), KEY_ID_MAX_BYTES)
}

function sizeProblem(what: string, size: number, max: number): string | undefined {
  if (size === 0) return `the ${what} is empty`
  return size > max ? `the ${what} is ${size} bytes long, more than the limit of ${max}` : undefined
}

function annotationsProblem(annotations: Annotations): string | undefined {
  let total = 0
  for (const [key, value] of annotations) {
    if (!isFullyQualifiedDomainName(key)) return `the annotation key ${JSON.stringify(key)} is not a full domain name`
    total += Buffer.byteLength(key) + value.length
  }
  if (total <= ANNOTATIONS_MAX_BYTES) return undefined
  return `the annotations are ${total} bytes long, more than the limit of ${ANNOTATIONS_MAX_BYTES}`
}

/** A name of two labels or more, in lower case; a dot at the end is allowed. */
function isFullyQualifiedDomainName(name: string): boolean {
  const relative = name.endsWith('.') ? name.slice(0, -1) : name
  if (relative.length > 253) return false
  const labels = relative.split('.')
  return labels.length > 1 && labels.every((l) => l.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(l))
}

/** A key that is equal for equal sources only; it is a hash, because annotations may be long. */
export function dekSourceCacheKey(source: DekSource): string {
  const hash = createHash('sha256')
  const length = Buffer.alloc(4)
  const add = (part: Uint8Array): void => {
    length.writeUInt32BE(part.length)
    hash.update(length).update(part)
  }
  hash.update(Uint8Array.of(source.type))
  add(source.encryptedDekSource)
  add(Buffer.from(source.keyId))
  for (const key of [...source.annotations.keys()].sort()) {
    add(Buffer.from(key))
    add(source.annotations.get(key)!)
  }
  return hash.digest('base64')
}

/** The hash of a key ID, for logs and messages: the ID itself may tell more than it should. */
export function hashOfKeyId(keyId: string): string {
  return keyId === '' ? '' : `sha256:${createHash('sha256').update(keyId).digest('hex')}`
}

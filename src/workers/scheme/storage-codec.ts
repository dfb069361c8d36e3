/**
 * Thread: any. Objects as they are stored and as kube-apiserver stores them: in the storage version, as protobuf in its
 * envelope or as JSON. What is read may be in either form and in any version that there is; it gets the defaults of its
 * version, since whoever wrote it may have known fewer, and comes out in the memory version.
 */
import { formatGroupVersion } from '../../api/group-version.js'
import { decodeJson } from '../../api/json/decode.js'
import { encodeJson } from '../../api/json/encode.js'
import type { KubeObject } from '../../api/object.js'
import { hasProtobuf } from '../../api/protobuf/builtin.js'
import { decodeProtobuf, encodeCheckedProtobuf, encodeProtobuf, isProtobuf } from '../../api/protobuf/envelope.js'
import type { SchemaSource, StructSchema } from '../../api/schema.js'
import type { VersionConversion } from '../../registry/generic/resource-rules.js'
import { type StoredKind, versionConversion } from '../../registry/stored-resource.js'
import type { Codec, EncodedObject } from '../../storage/contract/interface.js'
import type { MediaType } from '../../storage/factory/storage-config.js'

export interface StorageCodecOptions {
  readonly stored: StoredKind
  readonly schemas: SchemaSource
  readonly mediaType: MediaType
  /** The storage version. */
  readonly apiVersion: string
}

interface VersionCodec {
  readonly schema: StructSchema
  readonly conversion: VersionConversion | undefined
}

export class StorageCodec implements Codec<KubeObject> {
  readonly #stored: StoredKind
  readonly #schemas: SchemaSource
  readonly #storage: VersionCodec
  readonly #asProtobuf: boolean
  readonly #versions = new Map<string, VersionCodec>()
  readonly #lookup = (apiVersion: string, kind: string): StructSchema | undefined =>
    kind === this.#stored.info.kind ? this.#version(apiVersion)?.schema : undefined

  constructor({ stored, schemas, mediaType, apiVersion }: StorageCodecOptions) {
    this.#stored = stored
    this.#schemas = schemas
    const memoryVersion = formatGroupVersion(stored.info)
    const storage = this.#version(apiVersion) ?? this.#version(memoryVersion)
    if (storage === undefined)
      throw new Error(`there is no schema of ${stored.name} in ${apiVersion} or ${memoryVersion}`)
    this.#storage = storage
    this.#asProtobuf = mediaType === 'application/vnd.kubernetes.protobuf' && hasProtobuf(storage.schema)
  }

  encode(object: KubeObject): Uint8Array {
    const { schema, conversion } = this.#storage
    const stored = conversion === undefined ? object : conversion.fromMemoryVersion(object)
    return this.#asProtobuf ? encodeProtobuf(stored, schema) : encodeJson(stored, schema, { newline: true })
  }

  /** Mostly reading would give the same object, which protobuf finds out while it is written; then nothing is read. */
  encodePrinted(object: KubeObject): EncodedObject {
    const { schema, conversion } = this.#storage
    if (!this.#asProtobuf || conversion !== undefined) return { data: this.encode(object) }
    const { bytes, isCanonical } = encodeCheckedProtobuf(object, schema)
    if (!isCanonical || this.#lookup(object.apiVersion ?? '', object.kind ?? '') !== schema) return { data: bytes }
    this.#stored.rules.setDefaults?.(object)
    return { data: bytes, isAsRead: true }
  }

  decode(bytes: Uint8Array): KubeObject {
    const object = isProtobuf(bytes) ? decodeProtobuf(bytes, this.#lookup).object : this.#fromJson(bytes)
    this.#stored.rules.setDefaults?.(object)
    const conversion = this.#version(object.apiVersion ?? '')?.conversion
    return conversion === undefined ? object : conversion.toMemoryVersion(object)
  }

  #fromJson(bytes: Uint8Array): KubeObject {
    const { object } = decodeJson(bytes, this.#storage.schema)
    const { kind } = this.#stored.info
    if (object.kind !== undefined && object.kind !== kind)
      throw new Error(`a ${object.kind} is stored where a ${kind} should be`)
    const { schema } = this.#version(object.apiVersion ?? '') ?? this.#storage
    return schema === this.#storage.schema ? object : decodeJson(bytes, schema).object
  }

  #version(apiVersion: string): VersionCodec | undefined {
    const known = this.#versions.get(apiVersion)
    if (known !== undefined) return known
    const slash = apiVersion.indexOf('/')
    const { kind } = this.#stored.info
    const schema = this.#schemas.kind(apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1), kind)
    if (schema === undefined) return undefined
    const version = { schema, conversion: versionConversion(this.#stored, apiVersion) }
    this.#versions.set(apiVersion, version)
    return version
  }
}

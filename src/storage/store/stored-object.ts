/**
 * Thread: any. Between an object and its stored value: codec and transformer together, and the one place where what
 * cannot be read becomes `corrupt-object`.
 */
import type { StoreMetrics } from '../../metrics/store-metrics.js'
import { isStorageError, StorageError } from '../contract/errors.js'
import type { CachedText, Codec, EncodedObject, Versioner } from '../contract/interface.js'
import type { KeyValue, LeaseId } from '../contract/kv.js'
import { NO_LEASE } from '../contract/kv.js'
import { isKeyServiceFailure, keyServiceUnreachable } from '../contract/transform-error.js'
import type { Transformer, TransformResult } from '../contract/transformer.js'

/** An object as it is stored, or as a caller says it is. */
export interface ObjectState<T> {
  /** Undefined when the object exists and cannot be read. */
  readonly object: T | undefined
  /** The revision of the object; 0 when there is no object. */
  readonly revision: number
  /** The object's encoded bytes before encryption, by which an update finds out that nothing changed. */
  readonly data: Uint8Array
  readonly stale: boolean
  readonly lease: LeaseId
}

export interface StoredObjectsOptions<T> {
  readonly codec: Codec<T>
  readonly transformer: Transformer
  readonly versioner: Versioner<T>
  /** An empty object of the kind. */
  readonly newObject: () => T
  readonly metrics?: StoreMetrics
}

const NO_DATA = new Uint8Array(0)

/** A suggested state whose text is known, and whose bytes are not yet. */
export class TextState<T> implements ObjectState<T> {
  readonly object: T
  readonly revision: number
  readonly text: CachedText<T>
  readonly stale = false
  readonly lease = NO_LEASE
  readonly #encode: () => Uint8Array
  #data: Uint8Array | undefined

  constructor(object: T, revision: number, text: CachedText<T>, encode: () => Uint8Array) {
    this.object = object
    this.revision = revision
    this.text = text
    this.#encode = encode
  }

  get data(): Uint8Array {
    this.#data ??= this.#encode()
    return this.#data
  }
}

export class StoredObjects<T> {
  readonly versioner: Versioner<T>
  readonly newObject: () => T
  readonly #codec: Codec<T>
  readonly #transformer: Transformer
  readonly #metrics: StoreMetrics | undefined

  constructor(options: StoredObjectsOptions<T>) {
    this.versioner = options.versioner
    this.newObject = options.newObject
    this.#codec = options.codec
    this.#transformer = options.transformer
    this.#metrics = options.metrics
  }

  /** Takes away what is not stored and encodes the rest. The object is changed: the caller gives it away. */
  encode(object: T): Uint8Array {
    this.versioner.prepareObjectForStorage(object)
    return this.#codec.encode(object)
  }

  /** The same, with the JSON of what will be read when the codec knows it. */
  encodePrinted(object: T): EncodedObject {
    this.versioner.prepareObjectForStorage(object)
    return this.#codec.encodePrinted?.(object) ?? { data: this.#codec.encode(object) }
  }

  /**
   * The bytes that go into the store. KV takes them for good, so they are never `data` itself, which is decoded again
   * afterwards.
   */
  seal(data: Uint8Array, key: string): Uint8Array | Promise<Uint8Array> {
    const sealed = this.#transformer.transformToStorage(data, key)
    return sealed === data ? new Uint8Array(data) : sealed
  }

  decode(data: Uint8Array, key: string, revision: number): T {
    let object: T
    try {
      object = this.#codec.decode(data)
    } catch (cause) {
      this.#metrics?.unreadable()
      throw corruptObject(key, revision, 'cannot be decoded', cause)
    }
    this.versioner.updateObject(object, revision)
    return object
  }

  /** The object that is about to be written, as it will be read; it gets its version when the write has one. */
  decodeUnversioned(data: Uint8Array, key: string): T {
    try {
      return this.#codec.decode(data)
    } catch (cause) {
      throw corruptObject(key, 0, 'cannot be decoded', cause)
    }
  }

  /** A copy by way of the stored form, which does not tell an empty list from none. */
  copy(object: T): T {
    return this.#codec.decode(this.#codec.encode(object))
  }

  /**
   * Decrypts a value. There is a promise only when the transformer needs one: lists go through here object by object.
   */
  open(kv: KeyValue): TransformResult | Promise<TransformResult> {
    try {
      const opened = this.#transformer.transformFromStorage(kv.value, kv.key)
      return opened instanceof Promise ? opened.catch((cause: unknown) => this.#unreadable(kv, cause)) : opened
    } catch (cause) {
      return this.#unreadable(kv, cause)
    }
  }

  /** The object with the version it was written at, or with `revision` instead. */
  read(kv: KeyValue, revision = kv.modRevision): T | Promise<T> {
    const opened = this.open(kv)
    return opened instanceof Promise
      ? opened.then(({ data }) => this.decode(data, kv.key, revision))
      : this.decode(opened.data, kv.key, revision)
  }

  async state(kv: KeyValue): Promise<ObjectState<T>> {
    const { data, stale } = await this.open(kv)
    const object = this.decode(data, kv.key, kv.modRevision)
    return { object, revision: kv.modRevision, data, stale, lease: kv.lease }
  }

  /** The state of a key that does not exist. */
  absentState(): ObjectState<T> {
    return { object: this.newObject(), revision: 0, data: NO_DATA, stale: false, lease: NO_LEASE }
  }

  /** The state of an object that exists and cannot be read. */
  unreadableState(kv: KeyValue): ObjectState<T> {
    return { object: undefined, revision: kv.modRevision, data: NO_DATA, stale: true, lease: kv.lease }
  }

  /**
   * The state that a caller's copy suggests, which may be out of date. The copy itself is not changed. With a text to read it from again
   * its bytes are made only when somebody asks: an update that prints otherwise has changed something, whatever the bytes are.
   */
  suggestedState(object: T, text?: CachedText<T>): ObjectState<T> {
    const revision = this.versioner.objectResourceVersion(object)
    if (text !== undefined) return new TextState(object, revision, text, () => this.encode(text.read()))
    const data = this.encode(object)
    this.versioner.updateObject(object, revision)
    return { object, revision, data, stale: false, lease: NO_LEASE }
  }

  #unreadable(kv: KeyValue, cause: unknown): never {
    // A key service that does not answer says nothing about the object, which must not be taken for corrupt and
    // deleted.
    if (isStorageError(cause)) throw cause
    if (isKeyServiceFailure(cause)) throw keyServiceUnreachable(kv.key, cause)
    throw corruptObject(kv.key, kv.modRevision, 'cannot be decrypted', cause)
  }
}

function corruptObject(key: string, resourceVersion: number, what: string, cause: unknown): StorageError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new StorageError('corrupt-object', `the object stored at ${JSON.stringify(key)} ${what}: ${why}`, {
    key,
    resourceVersion,
    cause,
  })
}

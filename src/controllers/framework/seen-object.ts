/**
 * Thread: controllers. An object as a controller sees it where it lies in shared memory. Nothing of it is parsed before
 * somebody asks, and it is valid only in the call that it is handed to: who wants to keep something asks for `read()`, which is
 * a copy.
 */
import { encodeUntyped } from '../../api/json/encode.js'
import { parseJson } from '../../api/json/parse.js'
import type { Json, KubeObject } from '../../api/object.js'
import { type AttributeSet, MapAttributes } from '../../api/selector.js'
import type { RecordView } from '../../cacher/memory/shared-memory.js'
import type { ControlledResource } from './controlled-resource.js'

export interface ObjectPlace {
  /** '' for what lies in no namespace. */
  readonly namespace: string
  readonly name: string
}

export class SeenObject implements ObjectPlace {
  readonly #resource: ControlledResource
  readonly #record: RecordView
  #object: KubeObject | undefined
  #place: ObjectPlace | undefined

  constructor(resource: ControlledResource, record: RecordView) {
    this.#resource = resource
    this.#record = record
  }

  /** An object that was parsed already: one that memory does not hold. */
  static of(resource: ControlledResource, key: string, object: KubeObject): SeenObject {
    const { uid = '', resourceVersion = '0', labels = {} } = object.metadata ?? {}
    const attributes = new MapAttributes(labels)
    return new SeenObject(resource, {
      key: `${resource.keyPrefix}${key}`,
      uid,
      modRevision: Number(resourceVersion),
      createRevision: 0,
      labels: attributes,
      fields: new PathAttributes(object),
      revisionOffset: 0,
      body: () => Buffer.from(encodeUntyped(object as unknown as Json)),
    })
  }

  get namespace(): string {
    return this.#places().namespace
  }

  get name(): string {
    return this.#places().name
  }

  /** `namespace/name`, or the name alone: what queues hold. */
  get key(): string {
    return this.#record.key.slice(this.#resource.keyPrefix.length)
  }

  get uid(): string {
    return this.#record.uid
  }

  get revision(): number {
    return this.#record.modRevision
  }

  get labels(): AttributeSet {
    return this.#record.labels
  }

  /** A field that selectors know, such as `spec.nodeName`, without parsing; '' when the object does not have it. */
  field(name: string): string {
    return this.#record.fields.get(name) ?? ''
  }

  /** Whether the bytes stand anywhere in the object's JSON: a cheap look before parsing. */
  mentions(bytes: Buffer): boolean {
    const body = this.#record.body()
    return Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(bytes)
  }

  /** The object, parsed when it is first asked for. Integers beyond 2^53 are kept exact. */
  read<T extends KubeObject = KubeObject>(): T {
    this.#object ??= parseJson(Buffer.from(this.#record.body())).value as KubeObject
    return this.#object as T
  }

  #places(): ObjectPlace {
    this.#place ??= placeOf(this.key)
    return this.#place
  }
}

/** From `namespace/name` or a name alone to the two parts. */
export function placeOf(key: string): ObjectPlace {
  const slash = key.indexOf('/')
  return slash < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

export const keyOf = ({ namespace, name }: ObjectPlace): string => (namespace === '' ? name : `${namespace}/${name}`)

/** Fields of an object that was parsed already, by their path. */
class PathAttributes implements AttributeSet {
  readonly #object: KubeObject

  constructor(object: KubeObject) {
    this.#object = object
  }

  get(name: string): string | undefined {
    let value: unknown = this.#object
    for (const part of name.split('.')) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
      value = (value as Record<string, unknown>)[part]
    }
    return typeof value === 'string' ? value : undefined
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }
}

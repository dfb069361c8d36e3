/**
 * Thread: any. The shape of a type as decoding, patches, apply, defaulting and documents need it. Built-in types come
 * from the catalogue, custom ones from their definition; both in this form.
 */

export type ScalarKind =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'double'
  /** base64 text */
  | 'bytes'
  /** RFC 3339 with seconds */
  | 'time'
  /** RFC 3339 with microseconds */
  | 'micro-time'
  /** Go's duration text */
  | 'duration'
  | 'quantity'
  | 'int-or-string'
  /** Any JSON: RawExtension, FieldsV1, the JSON of custom resource definitions; unknown fields are kept. */
  | 'any'

export interface ScalarSchema {
  readonly kind: ScalarKind
  /** The definition behind 'any': RawExtension, FieldsV1, JSON, JSONSchemaPropsOrBool, … */
  readonly name?: string
  /** 'any' of which the objects have a type: JSONSchemaPropsOrBool holds a JSONSchemaProps, true or false. */
  readonly objects?: StructSchema
}

/** A struct: a fixed set of fields. */
export interface StructSchema {
  readonly kind: 'struct'
  /** The definition's name, io.k8s.api.core.v1.PodSpec; '' for an anonymous one. */
  readonly name: string
  readonly fields: ReadonlyMap<string, FieldSchema>
  /** Atomic: apply owns it as a whole. */
  readonly atomic: boolean
  /** Custom resources: keep fields that are not in the schema. */
  readonly preserveUnknown: boolean
  /** Served kinds that have this type, as [group, version, kind]. */
  readonly kinds?: readonly (readonly [group: string, version: string, kind: string])[]
  /** x-kubernetes-unions, as published. */
  readonly unions?: unknown
  /** On the wire only, not in the published documents. */
  readonly unpublished?: boolean
}

/** String keys, values of one type. */
export interface MapSchema {
  readonly kind: 'map'
  readonly values: TypeSchema
  readonly atomic: boolean
}

export interface ListSchema {
  readonly kind: 'list'
  readonly items: TypeSchema
  /** How apply merges: as one value, as a set of scalars, or by keys. */
  readonly listType: 'atomic' | 'set' | 'map'
  readonly mapKeys: readonly string[]
  /** The type is not tagged with a list type: it is merged as an atomic one and published without. */
  readonly untagged?: boolean
  /** How strategic merge patch merges, from the patch tags of the field that holds the list. */
  readonly patchStrategy: 'replace' | 'merge'
  readonly patchMergeKey: string | undefined
}

export type TypeSchema = ScalarSchema | StructSchema | MapSchema | ListSchema

export interface FieldSchema {
  readonly name: string
  readonly type: TypeSchema
  readonly required: boolean
  readonly enum: readonly string[] | undefined
  /** As published in OpenAPI; apply's merge keys use it. Real defaulting is code. */
  readonly default: unknown
  /** Strategic merge of a struct or map field: the strategies named in its patch tag ('replace', 'retainKeys', 'merge'). */
  readonly patchStrategies: readonly string[]
  /** Of the items of a list or the values of a map. */
  readonly itemEnum?: readonly string[]
  /** Built-in types: what is printed when the value is the zero value. Without it a field is printed when it is there. */
  readonly presence?: FieldPresence
  /** Built-in types: where the field is in the protobuf message. */
  readonly wire?: FieldWire
}

/** The Go declaration behind a field, as far as JSON and protobuf output depend on it. */
export interface FieldPresence {
  /** nil differs from the zero value. Lists and maps are no pointers, but nil too. */
  readonly pointer: boolean
  /** Left out when nil, "", 0, false or of no length; has no effect on structs. */
  readonly omitEmpty: boolean
  /** Left out when zero, structs and times too. */
  readonly omitZero: boolean
}

export interface FieldWire {
  /** Field numbers from the message down: more than one when the field is of an embedded struct. */
  readonly path: readonly number[]
  /** The list is a message of its own with the items in field 1. */
  readonly wrapped: boolean
}

/** Every field of a type by name, resolved lazily because types refer to each other in circles. */
export interface SchemaSource {
  /** By definition name; undefined when there is none. */
  definition(name: string): StructSchema | ScalarSchema | undefined
  /** The type of a served kind. */
  kind(group: string, version: string, kind: string): StructSchema | undefined
  /** A custom kind, or the kind of its lists, as documents print it; undefined for built-in ones. */
  documented?(group: string, version: string, kind: string): DocumentedKind | undefined
}

/** A reference to a definition of the document, which gets the definition with it. */
export type OpenApiReference = (name: string) => Record<string, unknown>

/** A kind that prints itself in OpenAPI documents. */
export interface DocumentedKind {
  /** The name of its definition: com.example.v1.Widget. */
  readonly name: string
  /** Of a list: the kind of its items. */
  readonly items?: { readonly group: string; readonly version: string; readonly kind: string }
  schema(openApi: 2 | 3, reference: OpenApiReference): Record<string, unknown>
}

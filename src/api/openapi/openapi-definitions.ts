/** Thread: any. Schemas as OpenAPI prints them, version 2 or 3, with everything that they refer to. */
import type {
  DocumentedKind,
  FieldSchema,
  ScalarKind,
  ScalarSchema,
  SchemaSource,
  StructSchema,
  TypeSchema,
} from '../schema.js'
import { DOCUMENTED_ZEROS } from '../zero-values.js'

export type OpenApiSchema = Record<string, unknown>

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const APIEXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1'
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity'
const INT_OR_STRING = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString'

/** Scalars that are definitions of their own. */
const NAMED_SCALARS: ReadonlyMap<ScalarKind, string> = new Map([
  ['quantity', QUANTITY],
  ['int-or-string', INT_OR_STRING],
  ['time', `${META}.Time`],
  ['micro-time', `${META}.MicroTime`],
  ['duration', `${META}.Duration`],
])
const NAMED_ANY: ReadonlyMap<string, string> = new Map([
  ['RawExtension', 'io.k8s.apimachinery.pkg.runtime.RawExtension'],
  ['FieldsV1', `${META}.FieldsV1`],
  ['JSON', `${APIEXTENSIONS}.JSON`],
  ['JSONSchemaPropsOrArray', `${APIEXTENSIONS}.JSONSchemaPropsOrArray`],
  ['JSONSchemaPropsOrBool', `${APIEXTENSIONS}.JSONSchemaPropsOrBool`],
  ['JSONSchemaPropsOrStringArray', `${APIEXTENSIONS}.JSONSchemaPropsOrStringArray`],
])

const PLAIN: Readonly<Partial<Record<ScalarKind, OpenApiSchema>>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
}

/** Collects what a document needs: refer to a type, and its definition and all below it come with it. */
export class OpenApiDefinitions {
  readonly #version: 2 | 3
  readonly #schemas: SchemaSource
  readonly #prefix: string
  readonly #made = new Map<string, OpenApiSchema>()

  constructor(version: 2 | 3, schemas: SchemaSource) {
    this.#version = version
    this.#schemas = schemas
    this.#prefix = version === 2 ? '#/definitions/' : '#/components/schemas/'
  }

  /** A reference to a definition, which is made when it was not yet. */
  reference(name: string): OpenApiSchema {
    this.#require(name)
    return { $ref: this.#prefix + name }
  }

  /** The same for a kind that prints itself. */
  custom({ name, schema }: DocumentedKind): OpenApiSchema {
    if (!this.#made.has(name)) {
      const definition: OpenApiSchema = {}
      this.#made.set(name, definition)
      Object.assign(
        definition,
        schema(this.#version, (other) => this.reference(other)),
      )
    }
    return { $ref: this.#prefix + name }
  }

  /** The definitions that were asked for and those they need, by name. */
  all(): Record<string, OpenApiSchema> {
    return Object.fromEntries([...this.#made].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #require(name: string): void {
    if (this.#made.has(name)) return
    const scalar = this.#scalarDefinition(name)
    if (scalar !== undefined) {
      this.#made.set(name, scalar)
      return
    }
    const schema = this.#schemas.definition(name)
    if (schema?.kind !== 'struct') return
    const definition: OpenApiSchema = {}
    // Before its fields: they may lead back here.
    this.#made.set(name, definition)
    Object.assign(definition, this.#struct(schema))
  }

  #scalarDefinition(name: string): OpenApiSchema | undefined {
    const three = this.#version === 3
    switch (name) {
      case QUANTITY:
        return three ? { oneOf: [{ type: 'string' }, { type: 'number' }] } : { type: 'string' }
      case INT_OR_STRING:
        return three
          ? { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' }
          : { type: 'string', format: 'int-or-string' }
      case `${META}.Time`:
      case `${META}.MicroTime`:
        return { type: 'string', format: 'date-time' }
      case `${META}.Duration`:
        return { type: 'string' }
    }
    for (const [kind, definition] of NAMED_ANY)
      if (definition === name) return kind.startsWith('JSON') ? {} : { type: 'object' }
    return undefined
  }

  #struct(schema: StructSchema): OpenApiSchema {
    const properties: Record<string, OpenApiSchema> = {}
    for (const name of [...schema.fields.keys()].sort()) properties[name] = this.#field(schema.fields.get(name)!)
    const required = [...schema.fields.values()].filter((f) => f.required).map((f) => f.name)
    return {
      type: 'object',
      ...(required.length === 0 ? {} : { required }),
      ...(schema.fields.size === 0 ? {} : { properties }),
      ...(schema.kinds === undefined || schema.kinds.length === 0
        ? {}
        : {
            'x-kubernetes-group-version-kind': schema.kinds.map(([group, version, kind]) => ({ group, kind, version })),
          }),
      ...(schema.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
      ...(schema.unions === undefined ? {} : { 'x-kubernetes-unions': schema.unions }),
    }
  }

  #field(field: FieldSchema): OpenApiSchema {
    const printed = this.#withDefault(this.#type(field.type), field.default)
    const { type } = field
    const tags: OpenApiSchema = {}
    if (type.kind === 'list') {
      if (type.untagged !== true) tags['x-kubernetes-list-type'] = type.listType
      if (type.mapKeys.length > 0) tags['x-kubernetes-list-map-keys'] = type.mapKeys
      if (type.patchMergeKey !== undefined) tags['x-kubernetes-patch-merge-key'] = type.patchMergeKey
    }
    if (type.kind === 'map' && type.atomic) tags['x-kubernetes-map-type'] = 'atomic'
    if (field.patchStrategies.length > 0) tags['x-kubernetes-patch-strategy'] = field.patchStrategies.join(',')
    return Object.keys(tags).length === 0 ? printed : { ...this.#besideReference(printed), ...tags }
  }

  #type(type: TypeSchema): OpenApiSchema {
    switch (type.kind) {
      case 'struct':
        return type.name === '' ? this.#struct(type) : this.reference(type.name)
      case 'list':
        return { type: 'array', items: this.#item(type.items) }
      case 'map':
        return { type: 'object', additionalProperties: this.#item(type.values) }
      default:
        return this.#scalar(type)
    }
  }

  #item(type: TypeSchema): OpenApiSchema {
    return this.#withDefault(this.#type(type), DOCUMENTED_ZEROS[type.kind])
  }

  #scalar({ kind, name }: ScalarSchema): OpenApiSchema {
    const definition = kind === 'any' ? NAMED_ANY.get(name ?? '') : NAMED_SCALARS.get(kind)
    return definition === undefined ? { ...PLAIN[kind] } : this.reference(definition)
  }

  /** Version 2 publishes no defaults. */
  #withDefault(schema: OpenApiSchema, value: unknown): OpenApiSchema {
    if (this.#version === 2 || value === undefined) return schema
    return { ...this.#besideReference(schema), default: value }
  }

  /** Nothing may stand beside a $ref in version 3; version 2 does not mind. */
  #besideReference(schema: OpenApiSchema): OpenApiSchema {
    return this.#version === 3 && '$ref' in schema ? { allOf: [schema] } : schema
  }
}

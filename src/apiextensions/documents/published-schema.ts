/**
 * Thread: pool. The schema of a version of a custom resource as OpenAPI documents print it: what its definition says, and what
 * every object has. Version 2 of OpenAPI knows less; what it cannot say is left out, so that its clients take the value as it is.
 */
import type { GroupVersionKind } from '../../api/group-version.js'
import type { DocumentedKind, OpenApiReference } from '../../api/schema.js'
import { isSet, itemsOf, type JsonSchema, propertiesOf, valuesOf } from '../schema/json-schema.js'

type Printed = Record<string, unknown>

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const API_VERSION = { description: 'The version of the schema that this object is written in.', type: 'string' }
const KIND = { description: 'The kind of this object, in CamelCase. It does not change.', type: 'string' }
const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }]
/** Keywords that only version 3 has, or that clients of version 2 take for more than they say. */
const ONLY_IN_V3: ReadonlySet<string> = new Set(['default', 'nullable', 'oneOf', 'anyOf', 'allOf', 'not'])
/** These are printed by themselves. */
const NESTED: ReadonlySet<string> = new Set(['properties', 'items', 'additionalProperties'])

export interface PublishedVersion {
  readonly kind: GroupVersionKind
  readonly listKind: string
  readonly plural: string
  /** As documents name it. */
  readonly typeName: string
  readonly listTypeName: string
  readonly schema: JsonSchema | undefined
  readonly selectableFields: readonly string[]
  /** Whether the definition keeps whatever is sent, by the old field of its spec. */
  readonly preserveUnknownFields: boolean
}

export function documentedObject(version: PublishedVersion): DocumentedKind {
  const { kind, typeName: name, schema = {}, preserveUnknownFields } = version
  return {
    name,
    schema: (openApi, reference) => {
      const printed: Printed =
        preserveUnknownFields && openApi === 2 ? { type: 'object' } : print(schema, openApi, reference)
      const fields = {
        ...(printed['properties'] as Printed | undefined),
        apiVersion: API_VERSION,
        kind: KIND,
        metadata: described(reference(`${META}.ObjectMeta`), 'Metadata, as every object has it.', openApi),
      }
      return { ...printed, type: 'object', properties: fields, ...tags(version, kind) }
    },
  }
}

export function documentedList(version: PublishedVersion): DocumentedKind {
  const { kind, listKind, plural, typeName, listTypeName: name } = version
  return {
    name,
    items: kind,
    schema: (openApi, reference) => ({
      description: `${listKind} is a list of ${kind.kind}`,
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: API_VERSION,
        items: { description: `List of ${plural}.`, type: 'array', items: reference(typeName) },
        kind: KIND,
        metadata: described(reference(`${META}.ListMeta`), 'Metadata, as every list has it.', openApi),
      },
      ...tags(version, { ...kind, kind: listKind }),
    }),
  }
}

function tags({ selectableFields }: PublishedVersion, { group, version, kind }: GroupVersionKind): Printed {
  return {
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
    ...(selectableFields.length === 0
      ? {}
      : { 'x-kubernetes-selectable-fields': selectableFields.map((fieldPath) => ({ fieldPath })) }),
  }
}

/** Nothing may stand beside a reference in version 3. */
const described = (reference: Printed, description: string, openApi: 2 | 3): Printed =>
  openApi === 3 ? { allOf: [reference], description } : { ...reference, description }

function print(schema: JsonSchema, openApi: 2 | 3, reference: OpenApiReference): Printed {
  const out: Printed = {}
  for (const [keyword, value] of Object.entries(schema))
    if (isSet(value) && !NESTED.has(keyword) && (openApi === 3 || !ONLY_IN_V3.has(keyword))) out[keyword] = value
  // Clients of version 2 would refuse null, other types and unknown fields.
  const isOpen = schema.nullable === true || schema['x-kubernetes-preserve-unknown-fields'] === true
  if (openApi === 2 && schema.nullable === true) delete out['type']
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (openApi === 2) delete out['type']
    else if (!isSet(schema.anyOf) && !isSet(schema.allOf)) out['anyOf'] = INT_OR_STRING
  }
  if (openApi === 2 && isOpen) return out
  const items = itemsOf(schema)
  const values = valuesOf(schema)
  if (isSet(items)) out['items'] = print(items, openApi, reference)
  if (values !== undefined) out['additionalProperties'] = print(values, openApi, reference)
  else if (schema.additionalProperties === true) out['additionalProperties'] = true
  const properties = propertiesOf(schema).map(([name, one]): [string, Printed] => [
    name,
    print(one, openApi, reference),
  ])
  if (properties.length > 0) out['properties'] = Object.fromEntries(properties)
  return schema['x-kubernetes-embedded-resource'] === true ? embedded(out, openApi, reference) : out
}

function embedded(printed: Printed, openApi: 2 | 3, reference: OpenApiReference): Printed {
  const required = (printed['required'] as readonly string[] | undefined) ?? []
  return {
    ...printed,
    required: [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))],
    properties: {
      ...(printed['properties'] as Printed | undefined),
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: described(reference(`${META}.ObjectMeta`), 'Metadata, as every object has it.', openApi),
    },
  }
}

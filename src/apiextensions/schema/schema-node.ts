/**
 * Thread: any. A part of a schema, compiled when a value first comes to it. What every value meets (nullable, which fields
 * there are) is read once; what few schemas have (alternatives, patterns) when it is needed.
 */
import type { Json } from '../../api/object.js'
import { isSet, itemsOf, type JsonSchema, propertiesOf, valuesOf } from './json-schema.js'
import { ValueChecks } from './value-checks.js'

const NO_PROPERTIES: ReadonlyMap<string, SchemaNode> = new Map()

export class SchemaNode {
  readonly schema: JsonSchema
  readonly nullable: boolean
  /** x-kubernetes-preserve-unknown-fields. */
  readonly preserves: boolean
  /** x-kubernetes-embedded-resource. */
  readonly embedded: boolean
  /** What stands for a value that is not there. A default of null is none. */
  readonly defaultValue: Json | undefined
  #properties: ReadonlyMap<string, SchemaNode> | undefined
  #defaulted: readonly DefaultedProperty[] | undefined
  #additional: SchemaNode | undefined | null = null
  #items: SchemaNode | undefined | null = null
  #checks: ValueChecks | undefined
  #alternatives: Alternatives | undefined
  #hasStructure: boolean | undefined

  constructor(schema: JsonSchema) {
    this.schema = schema
    this.nullable = schema.nullable === true
    this.preserves = schema['x-kubernetes-preserve-unknown-fields'] === true
    this.embedded = schema['x-kubernetes-embedded-resource'] === true
    this.defaultValue = schema.default ?? undefined
  }

  /** By name. */
  get properties(): ReadonlyMap<string, SchemaNode> {
    this.#properties ??= this.#makeProperties()
    return this.#properties
  }

  /** What fields without a schema of their own are: undefined when there are none, NOTHING when it says `true` or `false`. */
  get additional(): SchemaNode | undefined {
    if (this.#additional === null) {
      const values = valuesOf(this.schema)
      const said = isSet(this.schema.additionalProperties)
      this.#additional = values !== undefined ? new SchemaNode(values) : said ? NOTHING : undefined
    }
    return this.#additional
  }

  get items(): SchemaNode | undefined {
    if (this.#items === null) {
      const items = itemsOf(this.schema)
      this.#items = isSet(items) ? new SchemaNode(items) : undefined
    }
    return this.#items
  }

  get checks(): ValueChecks {
    this.#checks ??= new ValueChecks(this.schema)
    return this.#checks
  }

  get alternatives(): Alternatives {
    this.#alternatives ??= makeAlternatives(this.schema)
    return this.#alternatives
  }

  /** Whether it, or a part of it, has lists of type set or map, or embedded objects. */
  get hasStructure(): boolean {
    this.#hasStructure ??= hasStructure(this.schema)
    return this.#hasStructure
  }

  /** The properties that have a default. */
  get defaulted(): readonly DefaultedProperty[] {
    this.#defaulted ??= [...this.properties]
      .filter(([, node]) => node.defaultValue !== undefined)
      .map(([name, node]) => ({ name, node }))
    return this.#defaulted
  }

  #makeProperties(): ReadonlyMap<string, SchemaNode> {
    const properties = propertiesOf(this.schema)
    if (properties.length === 0) return NO_PROPERTIES
    return new Map(properties.map(([name, schema]) => [name, new SchemaNode(schema)]))
  }
}

function hasStructure(schema: JsonSchema): boolean {
  const listType = schema['x-kubernetes-list-type']
  if (listType === 'set' || listType === 'map' || schema['x-kubernetes-embedded-resource'] === true) return true
  const [items, values] = [itemsOf(schema), valuesOf(schema)]
  if (isSet(items) && hasStructure(items)) return true
  if (values !== undefined && hasStructure(values)) return true
  return propertiesOf(schema).some(([, property]) => hasStructure(property))
}

/** Schemas that narrow down what this one says. */
interface Alternatives {
  readonly allOf: readonly SchemaNode[]
  readonly anyOf: readonly SchemaNode[]
  readonly oneOf: readonly SchemaNode[]
  readonly not: SchemaNode | undefined
}

function makeAlternatives({ allOf, anyOf, oneOf, not }: JsonSchema): Alternatives {
  const nodes = (schemas: readonly JsonSchema[] | undefined): SchemaNode[] =>
    (schemas ?? []).map((one) => new SchemaNode(one))
  return {
    allOf: nodes(allOf),
    anyOf: nodes(anyOf),
    oneOf: nodes(oneOf),
    not: isSet(not) ? new SchemaNode(not) : undefined,
  }
}

export interface DefaultedProperty {
  readonly name: string
  readonly node: SchemaNode
}

/** Where a schema says nothing: objects lose their fields, as they do in Kubernetes, and everything else stays. */
export const NOTHING: SchemaNode = new SchemaNode({ nullable: true })

/**
 * Thread: any. A part of a schema that has rules, or parts that have some. Rules are compiled when a value first comes to them,
 * as what is stored already: whatever a definition was accepted with stays in force.
 */
import { escapeName } from '../../api/cel/names.js'
import { type CelType, DYN } from '../../api/cel/types.js'
import { type Reader, readerOf } from '../../api/cel/values/typed-json.js'
import type { CelValue } from '../../api/cel/values/value.js'
import type { Json } from '../../api/object.js'
import { itemsOf, type JsonSchema, propertiesOf, property, valuesOf } from '../schema/json-schema.js'
import type { SchemaNode } from '../schema/schema-node.js'
import { type CompiledRule, RuleCompiler } from './compiled-rule.js'
import { isEmbedded, RuleTypes, withTypeMeta } from './rule-types.js'

/** What all nodes of one schema share. */
interface Shared {
  /** Schemas that have rules, or parts that have some. */
  readonly ruled: ReadonlySet<JsonSchema>
  readonly types: RuleTypes
}

interface Place {
  readonly node: SchemaNode
  /** What the type is made of: that of the node, or what every resource has. */
  readonly typeSchema: JsonSchema
  readonly name: string
  readonly isResource: boolean
}

/** Undefined for a schema without rules. `isResource`: of a whole object, which has kind, version and metadata. */
export function rulesOf(node: SchemaNode, isResource: boolean): RulesNode | undefined {
  const ruled = new Set<JsonSchema>()
  if (!collectRuled(node.schema, ruled)) return undefined
  const place = { node, typeSchema: node.schema, name: 'selfType', isResource }
  return new RulesNode(place, { ruled, types: new RuleTypes() })
}

function collectRuled(schema: JsonSchema, ruled: Set<JsonSchema>): boolean {
  let found = (schema['x-kubernetes-validations'] ?? []).length > 0
  const parts = [itemsOf(schema), valuesOf(schema), ...propertiesOf(schema).map(([, one]) => one)]
  for (const one of parts) if (one !== undefined && one !== null && collectRuled(one, ruled)) found = true
  if (found) ruled.add(schema)
  return found
}

export class RulesNode {
  readonly node: SchemaNode
  readonly #place: Place
  readonly #shared: Shared
  #rules: readonly CompiledRule[] | undefined
  #reader: Reader | undefined
  #properties: readonly (readonly [string, RulesNode])[] | undefined
  #items: RulesNode | undefined | null = null
  #additional: RulesNode | undefined | null = null

  constructor(place: Place, shared: Shared) {
    this.node = place.node
    this.#place = place
    this.#shared = shared
  }

  get rules(): readonly CompiledRule[] {
    this.#rules ??= this.#compile()
    return this.#rules
  }

  /** Those that have rules, or parts that have some. */
  get properties(): readonly (readonly [string, RulesNode])[] {
    this.#properties ??= this.#makeProperties()
    return this.#properties
  }

  get items(): RulesNode | undefined {
    if (this.#items === null) this.#items = this.#child(this.node.items, '@idx')
    return this.#items
  }

  get additional(): RulesNode | undefined {
    if (this.#additional === null) this.#additional = this.#child(this.node.additional, '@elem')
    return this.#additional
  }

  /** A value of the node as rules see it. */
  read(value: Json): CelValue {
    this.#reader ??= readerOf(this.#type ?? DYN)
    return this.#reader(value)
  }

  #compile(): readonly CompiledRule[] {
    const { schema } = this.node
    const rules = schema['x-kubernetes-validations'] ?? []
    if (rules.length === 0) return []
    if (this.#type === undefined) return []
    const compiler = new RuleCompiler(this.#type, schema)
    return rules.map((rule) => compiler.compile(rule, () => 'stored'))
  }

  #child(node: SchemaNode | undefined, step: string, typeSchema = node?.schema): RulesNode | undefined {
    if (node === undefined || typeSchema === undefined || !this.#shared.ruled.has(node.schema)) return undefined
    const place = { node, typeSchema, name: `${this.#place.name}.${step}`, isResource: isEmbedded(node.schema) }
    return new RulesNode(place, this.#shared)
  }

  /** A field of which rules above could not speak, since it has no type, has no rules either. */
  #makeProperties(): (readonly [string, RulesNode])[] {
    const { typeSchema, isResource } = this.#place
    const seen = isResource ? withTypeMeta(typeSchema) : typeSchema
    const found: (readonly [string, RulesNode])[] = []
    for (const [name, node] of this.node.properties) {
      const escaped = escapeName(name)
      const child = this.#child(node, escaped ?? name, escaped === undefined ? node.schema : property(seen, name))
      if (child !== undefined && child.#type !== undefined) found.push([name, child])
    }
    return found
  }

  get #type(): CelType | undefined {
    const { typeSchema, name, isResource } = this.#place
    return this.#shared.types.typeOf(typeSchema, name, isResource)
  }
}

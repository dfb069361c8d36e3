/** Random structural schemas with every keyword that definitions may have. */
import type { Json } from '#keelson/api/object.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import type { Random } from '../../../support/fuzz.js'
import { FORMATS, NAMES, NUMBERS, PATTERNS, TEXTS } from './pools.js'
import { ValueMaker } from './random-value.js'

const BOUNDS = [-1, 0, 1, 2, 3, 0.5, 1.5, 2 ** 31] as const
const FACTORS = [1, 2, 3, 0.1, 0.01, 0.5] as const
const NUMBER_FORMATS = ['int32', 'int64', 'float', 'double'] as const
const ALTERNATIVES = ['allOf', 'anyOf', 'oneOf'] as const

export class SchemaMaker {
  readonly #random: Random
  readonly #values: ValueMaker

  constructor(random: Random) {
    this.#random = random
    this.#values = new ValueMaker(random)
  }

  any(depth: number): JsonSchema {
    const random = this.#random
    const schema = this.#plain(depth)
    if (random.chance(20)) schema.nullable = true
    if (random.chance(8)) schema.enum = this.#listed(schema)
    if (random.chance(20)) this.#narrow(schema, 2)
    if (random.chance(25)) this.#setDefault(schema)
    return schema
  }

  object(depth: number): JsonSchema {
    const schema: JsonSchema = {
      ...this.#objectLimits(),
      type: 'object',
      properties: this.#some(NAMES, 50, () => this.any(depth - 1)),
    }
    if (this.#random.chance(15)) schema['x-kubernetes-preserve-unknown-fields'] = true
    if (this.#random.chance(25)) this.#narrow(schema, 2)
    return schema
  }

  #plain(depth: number): JsonSchema {
    const random = this.#random
    switch (random.below(depth > 0 ? 11 : 5)) {
      case 0:
        return { type: 'string', ...this.#textLimits() }
      case 1:
        return { type: 'integer', ...this.#numberLimits() }
      case 2:
        return { type: 'number', ...this.#numberLimits() }
      case 3:
        return { type: 'boolean' }
      case 4:
        return this.#intOrString()
      case 5:
      case 6:
        return this.#list(depth)
      case 7:
        return this.#map(depth)
      case 8:
        return this.#embedded(depth)
      case 9:
        return { 'x-kubernetes-preserve-unknown-fields': true }
      default:
        return this.object(depth)
    }
  }

  #intOrString(): JsonSchema {
    const schema: JsonSchema = { 'x-kubernetes-int-or-string': true }
    if (this.#random.chance(50)) schema.anyOf = [{ type: 'integer' }, { type: 'string' }]
    return { ...schema, ...this.#numberLimits(), ...this.#textLimits() }
  }

  #list(depth: number): JsonSchema {
    const random = this.#random
    const schema: JsonSchema = { type: 'array', ...this.#itemLimits() }
    const listType = random.pick(['none', 'atomic', 'set', 'map', 'map'] as const)
    if (listType === 'none') {
      if (random.chance(15)) schema['x-kubernetes-preserve-unknown-fields'] = true
      return { ...schema, items: this.any(depth - 1) }
    }
    schema['x-kubernetes-list-type'] = listType
    if (listType !== 'map') return { ...schema, items: this.any(listType === 'set' ? 0 : depth - 1) }
    const keys = random.chance(60) ? ['a'] : ['a', 'b']
    const properties = { ...this.object(depth - 1).properties }
    for (const key of keys) properties[key] = random.chance(70) ? { type: 'string' } : this.any(0)
    return { ...schema, 'x-kubernetes-list-map-keys': keys, items: { type: 'object', properties } }
  }

  #map(depth: number): JsonSchema {
    const additional = this.#random.chance(75) ? this.any(depth - 1) : this.#random.chance(50)
    return { type: 'object', additionalProperties: additional, ...this.#objectLimits() }
  }

  #embedded(depth: number): JsonSchema {
    const random = this.#random
    const properties = { ...this.object(depth - 1).properties }
    if (random.chance(30)) properties['kind'] = { type: 'string', ...(random.chance(50) ? { default: 'Kind' } : {}) }
    if (random.chance(30))
      properties['metadata'] = { type: 'object', properties: { name: { type: 'string', maxLength: 3 } } }
    const schema: JsonSchema = { type: 'object', 'x-kubernetes-embedded-resource': true, properties }
    if (random.chance(40)) schema['x-kubernetes-preserve-unknown-fields'] = true
    return schema
  }

  /** Alternatives say nothing of types, nulls and defaults: definitions may not. */
  #narrow(schema: JsonSchema, depth: number): void {
    const random = this.#random
    if (random.chance(20)) schema.not = this.#limits(schema, depth)
    else if (schema.anyOf === undefined)
      schema[random.pick(ALTERNATIVES)] = Array.from({ length: 1 + random.below(3) }, () => this.#limits(schema, depth))
  }

  #limits(schema: JsonSchema, depth: number): JsonSchema {
    const limits = this.#ownLimits(schema, depth)
    if (this.#random.chance(15)) limits.enum = this.#listed(schema)
    if (depth > 0 && this.#random.chance(15)) this.#narrow(limits, depth - 1)
    return limits
  }

  #ownLimits(schema: JsonSchema, depth: number): JsonSchema {
    const { items, properties } = schema
    switch (schema.type) {
      case 'string':
        return this.#textLimits()
      case 'integer':
      case 'number':
        return this.#numberLimits()
      case 'array':
        if (items === undefined || Array.isArray(items) || this.#random.chance(50)) return this.#itemLimits()
        return { items: this.#limits(items, depth - 1) }
      case 'object': {
        const limits: JsonSchema = this.#objectLimits()
        const names = Object.keys(properties ?? {})
        if (depth > 0 && names.length > 0)
          limits.properties = this.#some(names, 40, (name) => this.#limits(properties![name]!, depth - 1))
        return limits
      }
      default:
        return this.#random.chance(50) ? this.#textLimits() : this.#numberLimits()
    }
  }

  #textLimits(): JsonSchema {
    const random = this.#random
    return {
      ...(random.chance(12) ? { minLength: random.below(4) } : {}),
      ...(random.chance(12) ? { maxLength: random.below(5) } : {}),
      ...(random.chance(12) ? { pattern: random.pick(Object.keys(PATTERNS)) } : {}),
      ...(random.chance(12) ? { format: random.pick([...Object.keys(FORMATS), 'int32', 'nobody-knows']) } : {}),
    }
  }

  #numberLimits(): JsonSchema {
    const random = this.#random
    return {
      ...(random.chance(15) ? { minimum: random.pick(BOUNDS), exclusiveMinimum: random.chance(50) } : {}),
      ...(random.chance(15) ? { maximum: random.pick(BOUNDS), exclusiveMaximum: random.chance(50) } : {}),
      ...(random.chance(15) ? { multipleOf: random.pick(FACTORS) } : {}),
      ...(random.chance(15) ? { format: random.pick([...NUMBER_FORMATS, 'date']) } : {}),
    }
  }

  #itemLimits(): JsonSchema {
    const random = this.#random
    return {
      ...(random.chance(15) ? { minItems: random.below(3) } : {}),
      ...(random.chance(15) ? { maxItems: random.below(4) } : {}),
      ...(random.chance(8) ? { uniqueItems: true } : {}),
    }
  }

  #objectLimits(): JsonSchema {
    const random = this.#random
    return {
      ...(random.chance(10) ? { minProperties: random.below(3) } : {}),
      ...(random.chance(10) ? { maxProperties: random.below(5) } : {}),
      ...(random.chance(25) ? { required: NAMES.filter(() => random.chance(25)) } : {}),
    }
  }

  #listed(schema: JsonSchema): Json[] {
    const random = this.#random
    const some = Array.from({ length: 1 + random.below(3) }, () => this.#values.of(schema, 1))
    if (schema.type === 'string') some.push(random.pick(TEXTS))
    if (schema.type === 'number' || schema.type === 'integer') some.push(random.pick(NUMBERS))
    return some
  }

  #setDefault(schema: JsonSchema): void {
    const value = this.#values.clean(schema)
    if (value !== null) schema.default = value
  }

  #some(names: readonly string[], percent: number, make: (name: string) => JsonSchema): Record<string, JsonSchema> {
    return Object.fromEntries(names.filter(() => this.#random.chance(percent)).map((name) => [name, make(name)]))
  }
}

/** Random values for a schema: most fit it, so that what is wrong is wrong in one place. */
import type { Json, JsonObject } from '#keelson/api/object.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import type { Random } from '../../../support/fuzz.js'
import { METADATA, NAMES, NUMBERS, TEXTS } from './pools.js'

const VERSIONS: readonly Json[] = ['v1', 'v1', 'g/v1', 'a/b/c', '', null]
const KINDS: readonly Json[] = ['Kind', 'Kind', 'x y', '', null]
const SMALL = [0, 1, 2, 3] as const

export class ValueMaker {
  readonly #random: Random
  /** In percent: null, something else, or unknown fields, where the schema does not want them. */
  #disorder = 8

  constructor(random: Random) {
    this.#random = random
  }

  of(schema: JsonSchema, depth: number): Json {
    const random = this.#random
    if (random.chance(this.#disorder)) return random.chance(50) ? null : this.#anything(depth)
    if (schema.enum !== undefined && schema.enum.length > 0 && random.chance(60)) return random.pick(schema.enum)
    switch (schema.type) {
      case 'string':
        return random.pick(TEXTS)
      case 'integer':
        return random.pick(random.chance(70) ? SMALL : NUMBERS)
      case 'number':
        return random.pick(NUMBERS)
      case 'boolean':
        return random.chance(50)
      case 'array':
        return Array.from({ length: random.below(4) }, () => this.of(schema.items as JsonSchema, depth - 1))
      case 'object':
        return this.#object(schema, depth)
      default:
        if (schema['x-kubernetes-int-or-string'] !== true) return this.#anything(depth)
        return random.chance(50) ? random.pick(SMALL) : random.pick(TEXTS)
    }
  }

  /** Without what is not in the schema, as a default must be. Its limits may still be against it. */
  clean(schema: JsonSchema): Json {
    const before = this.#disorder
    this.#disorder = 0
    const value = schema['x-kubernetes-embedded-resource'] === true ? null : this.of(schema, 2)
    this.#disorder = before
    return value
  }

  #object(schema: JsonSchema, depth: number): JsonObject {
    const random = this.#random
    const value: JsonObject = {}
    const { properties = {}, additionalProperties: additional } = schema
    for (const [name, property] of Object.entries(properties))
      if (random.chance(70)) value[name] = this.of(property, depth - 1)
    if (typeof additional === 'object' && additional !== null)
      for (const name of NAMES) if (random.chance(40)) value[name] = this.of(additional, depth - 1)
    const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || additional === true
    for (const name of NAMES)
      if (!Object.hasOwn(value, name) && random.chance(isOpen ? 30 : this.#disorder))
        value[name] = this.#anything(depth - 1)
    if (schema['x-kubernetes-embedded-resource'] === true) this.#setType(value)
    return value
  }

  #setType(value: JsonObject): void {
    const random = this.#random
    if (random.chance(90)) value['apiVersion'] = random.pick(VERSIONS)
    if (random.chance(90)) value['kind'] = random.pick(KINDS)
    if (random.chance(60)) value['metadata'] = structuredClone(random.pick(METADATA).given)
    else delete value['metadata']
  }

  #anything(depth: number): Json {
    const random = this.#random
    switch (random.below(depth > 0 ? 6 : 4)) {
      case 0:
        return random.pick(TEXTS)
      case 1:
        return random.pick(NUMBERS)
      case 2:
        return random.chance(50)
      case 3:
        return null
      case 4:
        return Array.from({ length: random.below(3) }, () => this.#anything(depth - 1))
      default:
        return Object.fromEntries(
          NAMES.filter(() => random.chance(40)).map((name) => [name, this.#anything(depth - 1)]),
        )
    }
  }
}

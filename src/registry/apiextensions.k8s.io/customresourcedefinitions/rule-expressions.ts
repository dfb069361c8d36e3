/**
 * Thread: pool. The rules of a schema as expressions: about values of the types that the schema says, and no dearer than they may
 * be. What a rule can cost is estimated from how long values can become, times how many values there can be.
 */
import { UNBOUNDED } from '../../../api/cel/cost/estimate.js'
import { MAX_REQUEST_SIZE } from '../../../api/cel/limits.js'
import type { CelType } from '../../../api/cel/types.js'
import { type FieldPath, forbidden, internal, invalid } from '../../../api/field-error.js'
import type { Errors } from '../../../api/validation/checks.js'
import { type CompiledRule, type ExpressionUse, RuleCompiler } from '../../../apiextensions/rules/compiled-rule.js'
import { isEmbedded, RuleTypes, withTypeMeta } from '../../../apiextensions/rules/rule-types.js'
import {
  isSet,
  itemsOf,
  type JsonSchema,
  propertiesOf,
  property,
  valuesOf,
} from '../../../apiextensions/schema/json-schema.js'
import { costError, RULE_COST_LIMIT, TotalCost } from './rule-costs.js'

/** What an update may keep of the definition that is stored. */
export interface StoredRules {
  readonly rules: ReadonlySet<string>
  readonly messageExpressions: ReadonlySet<string>
}

export interface RuleOptions {
  readonly stored: StoredRules
  /** Rules of a schema that did not change may cost more than they might today. */
  readonly isUnchanged: boolean
  /** Schemas with faults in them or below: their rules are not looked at. */
  readonly faulty: ReadonlySet<JsonSchema>
}

interface Place {
  readonly schema: JsonSchema
  /** What the type is made of: the schema, or what every resource has. */
  readonly typeSchema: JsonSchema
  readonly name: string
  readonly path: FieldPath
  readonly isResource: boolean
  /** How many such values an object can have; undefined when the schema does not limit it. */
  readonly cardinality: number | undefined
  /** The list above it, without keys, whose items cannot be told apart, so that there is no older one. */
  readonly fixed: FieldPath | undefined
}

export function ruleExpressionErrors(schema: JsonSchema, path: FieldPath, options: RuleOptions): Errors {
  const place = {
    schema,
    typeSchema: schema,
    name: 'selfType',
    path,
    isResource: true,
    cardinality: 1,
    fixed: undefined,
  }
  const check = new RuleCheck(options)
  check.walk(place)
  return [...check.errors, ...check.total.errors(path)]
}

class RuleCheck {
  readonly errors: Errors = []
  readonly total = new TotalCost()
  readonly #options: RuleOptions
  readonly #types = new RuleTypes()

  constructor(options: RuleOptions) {
    this.#options = options
  }

  walk(place: Place): void {
    const { schema, path, name, fixed } = place
    const cardinality = cardinalityBelow(place)
    const below = { isResource: false, cardinality, fixed }
    const values = valuesOf(schema)
    if (values !== undefined)
      this.#below({ ...below, schema: values, name: `${name}.@elem`, path: path.child('additionalProperties') })
    const seen = place.isResource ? withTypeMeta(place.typeSchema) : place.typeSchema
    for (const [key, one] of propertiesOf(schema)) {
      const at = path.child('properties').key(key)
      this.#below({ ...below, schema: one, name: `${name}.${key}`, path: at }, property(seen, key))
    }
    const items = itemsOf(schema)
    if (isSet(items)) {
      const inList = schema['x-kubernetes-list-type'] === 'map' ? fixed : (fixed ?? path)
      this.#below({ ...below, schema: items, name: `${name}.@idx`, path: path.child('items'), fixed: inList })
    }
    if ((schema['x-kubernetes-validations'] ?? []).length > 0 && !this.#options.faulty.has(schema)) this.#own(place)
  }

  #below(place: Omit<Place, 'typeSchema'>, typeSchema: JsonSchema = place.schema): void {
    this.walk({ ...place, typeSchema, isResource: isEmbedded(place.schema) })
  }

  #own(place: Place): void {
    const { schema, typeSchema, name, isResource } = place
    const at = place.path.child('x-kubernetes-validations')
    const type = this.#types.typeOf(typeSchema, name, isResource)
    if (type === undefined) {
      this.errors.push(internal(at, 'a value without a type can have no rules'))
      return
    }
    const compiler = new RuleCompiler(type, schema)
    const { rules, messageExpressions } = this.#options.stored
    const useOf = (expression: string, isMessage: boolean): ExpressionUse =>
      (isMessage ? messageExpressions : rules).has(expression) ? 'stored' : 'new'
    for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries())
      this.#rule(compiler.compile(rule, useOf), type, place, at.index(i))
  }

  #rule(compiled: CompiledRule, type: CelType, { cardinality, fixed }: Place, at: FieldPath): void {
    const { rule, program, error, message, messageError, usesOldSelf } = compiled
    if (program !== undefined) {
      const times = cardinality ?? mostInRequest(type)
      this.#cost('estimated rule cost', multiplied(program.estimatedCost.max, times), at.child('rule'))
    }
    if (error !== undefined) this.errors.push(invalid(at.child('rule'), rule, error))
    const messageAt = at.child('messageExpression')
    if (messageError !== undefined) this.errors.push(invalid(messageAt, rule, messageError))
    else if (message !== undefined) this.#cost('estimated messageExpression cost', message.estimatedCost.max, messageAt)
    if (usesOldSelf && fixed !== undefined)
      this.errors.push(invalid(at.child('rule'), rule.rule, `oldSelf cannot be used below ${fixed}`))
    if (!usesOldSelf && isSet(rule.optionalOldSelf)) {
      const why = 'may not be set if oldSelf is not used in rule'
      this.errors.push(invalid(at.child('optionalOldSelf'), rule.optionalOldSelf, why))
    }
  }

  #cost(what: string, cost: number, at: FieldPath): void {
    if (!this.#options.isUnchanged && cost > RULE_COST_LIMIT)
      this.errors.push(forbidden(at, costError(what, cost, RULE_COST_LIMIT)))
    this.total.add(at, cost)
  }
}

/** How many values of a type a request can hold, were there nothing but them and commas in it. */
const mostInRequest = ({ minSerializedSize = 0 }: CelType): number =>
  Math.trunc(MAX_REQUEST_SIZE / (minSerializedSize + 1))

const multiplied = (cost: number, times: number): number => Math.min(cost * times, UNBOUNDED)

function cardinalityBelow({ schema, cardinality }: Place): number | undefined {
  const most = mostBelow(schema)
  return cardinality === undefined || most === undefined ? undefined : multiplied(cardinality, most)
}

/** How many of each part a value has at most; undefined when the schema does not say. */
function mostBelow({ type, additionalProperties, maxProperties, maxItems }: JsonSchema): number | undefined {
  if (type === 'array') return isSet(maxItems) ? Math.max(0, Number(maxItems)) : undefined
  if (type !== 'object' || !isSet(additionalProperties)) return 1
  return isSet(maxProperties) ? Math.max(0, Number(maxProperties)) : undefined
}

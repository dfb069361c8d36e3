/**
 * Thread: pool. Defaults in a schema: values of it that have no unknown fields. Defaults of the metadata of an embedded object
 * are held against an object that has them, since metadata has rules of its own.
 */
import { BuiltinSchemas } from '../../../api/builtin-schema.js'
import type { CostBudget } from '../../../api/cel/program.js'
import { FieldPath, invalid } from '../../../api/field-error.js'
import { deepCopy, type Json, type JsonObject } from '../../../api/object.js'
import type { Errors } from '../../../api/validation/checks.js'
import { Ratchet } from '../../../apiextensions/rules/ratchet.js'
import { isEmbedded } from '../../../apiextensions/rules/rule-types.js'
import { type RulesNode, rulesOf } from '../../../apiextensions/rules/rules-node.js'
import { RulesValidator } from '../../../apiextensions/rules/rules-validator.js'
import { hasUnknownFields } from '../../../apiextensions/schema/admission-pass.js'
import { allSchemas, isSet, itemsOf, type JsonSchema, propertiesOf } from '../../../apiextensions/schema/json-schema.js'
import { objectMetaType } from '../../../apiextensions/schema/object-metadata.js'
import { SchemaNode } from '../../../apiextensions/schema/schema-node.js'
import { SchemaValidator } from '../../../apiextensions/schema/schema-validator.js'
import { StructureChecks } from '../../../apiextensions/schema/structure-checks.js'
import { once } from '../../../lib/once.js'

const metadataType = once(() => objectMetaType(new BuiltinSchemas()))
const RESOURCE_FIELDS = new Set(['apiVersion', 'kind', 'metadata'])

/** A value within an object of a kind, around which the rest of the object is made. */
type Surround = (value: Json) => JsonObject

export interface DefaultsOptions {
  readonly requirePruned: boolean
  /** What the rules of all defaults may cost together. */
  readonly budget: CostBudget
}

export function defaultsErrors(
  schema: JsonSchema,
  path: FieldPath,
  options: DefaultsOptions,
  surround?: Surround,
): Errors {
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const around = embedded ? undefined : surround
  const items = itemsOf(schema)
  const below = (one: JsonSchema, at: FieldPath, wrap?: Surround): Errors => defaultsErrors(one, at, options, wrap)
  return [
    ...ownErrors(schema, path.child('default'), options, around),
    ...(isSet(items) ? below(items, path.child('items'), around && ((value) => around([value]))) : []),
    ...propertiesOf(schema).flatMap(([name, one]) => {
      const at = path.child('properties').key(name)
      if (embedded && RESOURCE_FIELDS.has(name)) return below(one, at, (value) => resourceWith(name, value))
      return below(one, at, around && ((value) => around({ [name]: value })))
    }),
  ]
}

const resourceWith = (name: string, value: Json): JsonObject => ({
  apiVersion: 'validation/v1',
  kind: 'Validation',
  [name]: value,
})

/** The first kind of fault ends the search, as it does in Kubernetes; unknown fields are told beside it. */
function ownErrors(
  schema: JsonSchema,
  at: FieldPath,
  { requirePruned, budget }: DefaultsOptions,
  surround: Surround | undefined,
): Errors {
  const value = schema.default
  if (!isSet(value)) return []
  const node = new SchemaNode(openToEither(schema))
  if (surround !== undefined) {
    const wrong = metadataErrors(
      surround(deepCopy(value)),
      new SchemaNode({ 'x-kubernetes-embedded-resource': true }),
      FieldPath.of(),
    )
    if (wrong.length > 0)
      return [invalid(at, value, `must result in valid metadata: ${wrong.map(({ field }) => field).join(', ')}`)]
    return valueErrors(node, schema, value, at, budget)
  }
  const unknown = requirePruned && hasUnknownFields(value, node)
  const errors = unknown ? [invalid(at, value, 'must not have unknown fields')] : []
  const embedded = metadataErrors(value, node, at)
  return [...errors, ...(embedded.length > 0 ? embedded : valueErrors(node, schema, value, at, budget))]
}

function metadataErrors(value: Json, node: SchemaNode, at: FieldPath): Errors {
  const checks = new StructureChecks(metadataType(), at)
  checks.walk(node, value)
  return checks.embedded
}

/** By the keywords of `node`, and by the rules of the schema as it is. */
function valueErrors(node: SchemaNode, schema: JsonSchema, value: Json, at: FieldPath, budget: CostBudget): Errors {
  const errors = new SchemaValidator(at.toString()).validate(node, value, undefined)
  const rules = errors.length > 0 ? undefined : rulesOf(new SchemaNode(schema), isEmbedded(schema))
  if (rules === undefined || budget.remaining < 0) return errors
  const unchanged = ruleErrors(rules, value, value, at, budget)
  return unchanged.length > 0 ? unchanged : ruleErrors(rules, value, undefined, at, budget)
}

/** By the rules of a value that stays as it is, or of one that is new. */
function ruleErrors(rules: RulesNode, value: Json, old: Json | undefined, at: FieldPath, budget: CostBudget): Errors {
  const validator = new RulesValidator(at, budget)
  validator.validate(rules, value, old, Ratchet.NONE)
  return validator.errors
}

/** A default that stands for an integer or a string may be anything: Kubernetes does not look at its type. */
function openToEither(schema: JsonSchema): JsonSchema {
  for (const one of allSchemas(schema)) if (one['x-kubernetes-int-or-string'] === true) return withoutEither(schema)
  return schema
}

function withoutEither(schema: JsonSchema): JsonSchema {
  const { 'x-kubernetes-int-or-string': _, items, properties, additionalProperties: values, ...rest } = schema
  return {
    ...rest,
    ...(isSet(items) && !Array.isArray(items) ? { items: withoutEither(items) } : {}),
    ...(isSet(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, one]) => [name, withoutEither(one ?? {})]),
          ),
        }
      : {}),
    ...(isSet(values) ? { additionalProperties: typeof values === 'object' ? withoutEither(values) : values } : {}),
  }
}

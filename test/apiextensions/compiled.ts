/** A schema of the object's spec, compiled, and short ways to ask it. */
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import type { FieldError } from '#keelson/api/field-error.js'
import type { Json, JsonObject } from '#keelson/api/object.js'
import { compileSchema } from '#keelson/apiextensions/schema/compile-schema.js'
import type { CompiledSchema } from '#keelson/apiextensions/schema/interface.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'

export const builtin = new BuiltinSchemas()

export const ofObject = (schema: JsonSchema): CompiledSchema =>
  compileSchema(schema, { builtin, name: 'com.example.v1.Widget' })

/** Of an object whose spec has this schema. */
export const ofSpec = (spec: JsonSchema): CompiledSchema => ofObject({ type: 'object', properties: { spec } })

export const objectOf = (spec: Json, rest: JsonObject = {}): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w' },
  spec,
  ...rest,
})

export const bytesOf = (spec: unknown): Buffer => Buffer.from(JSON.stringify(objectOf(spec as Json)))

/** What is left of a spec, and what was said about it. */
export function admitted(spec: JsonSchema, value: unknown): { spec: Json | undefined; said: readonly string[] } {
  const { object, strictErrors } = ofSpec(spec).decode(bytesOf(value))
  return { spec: object['spec'], said: strictErrors }
}

/** `spec.size FieldValueInvalid` of every error. */
export const told = (errors: readonly FieldError[]): string[] => errors.map(({ field, type }) => `${field} ${type}`)

export function wrongWith(spec: JsonSchema, value: unknown, old?: unknown): string[] {
  const options = old === undefined ? {} : { old: objectOf(old as Json) }
  return told(ofSpec(spec).validate(objectOf(value as Json), options).errors)
}

import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import type { Json, JsonObject } from '#keelson/api/object.js'
import { compileSchema } from '#keelson/apiextensions/schema/compile-schema.js'
import { fitsType } from '#keelson/workers/endpoints/apply/fits-type.js'
import { validateTyped } from '#keelson/workers/endpoints/apply/validate-applied.js'

const { type } = compileSchema(
  {
    type: 'object',
    properties: {
      s: { type: 'string' },
      n: { type: 'integer' },
      b: { type: 'boolean' },
      either: { 'x-kubernetes-int-or-string': true },
      list: { type: 'array', items: { type: 'string' } },
      map: { type: 'object', additionalProperties: { type: 'number' } },
      open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { s: { type: 'string' } } },
      inner: { type: 'object', properties: { s: { type: 'string' } } },
    },
  },
  { builtin: new BuiltinSchemas() },
)

const isSaidToFit = (object: JsonObject): boolean => {
  try {
    validateTyped(type, object)
    return true
  } catch {
    // It throws when something does not fit.
    return false
  }
}

t.test('an object fits its type when the slower check finds nothing wrong', async (t) => {
  const values: Json[] = ['x', 1, true, null, [], ['x'], [1], {}, { s: 'x' }, { s: 1 }, { z: 1 }, { z: 'x' }]
  for (const field of ['s', 'n', 'b', 'either', 'list', 'map', 'open', 'inner', 'unknown'])
    for (const value of values) {
      const object = { apiVersion: 'e.com/v1', kind: 'A', metadata: { name: 'a' }, [field]: value }
      t.equal(fitsType(type, object), isSaidToFit(object), `${field}: ${JSON.stringify(value)}`)
    }
})

import t from 'tap'
import { FieldPath } from '#keelson/api/field-error.js'
import type { JsonObject } from '#keelson/api/object.js'
import { configurationErrors } from '#keelson/registry/resource.k8s.io/device-parts.js'

t.test('parameters of a driver may hold any JSON, of a certain size', async (t) => {
  const errors = (parameters: JsonObject) =>
    configurationErrors({ opaque: { driver: 'd.example.com', parameters } }, FieldPath.of('config'))
  t.same(errors({ small: 1, large: 12345678901234567890n, list: [{ nested: -(2n ** 63n) }] }), [])
  t.match(errors({ large: 1n, text: 'x'.repeat(20_000) }), [{ field: 'config.opaque.parameters' }])
})

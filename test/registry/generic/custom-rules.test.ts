import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { compileSchema } from '#keelson/apiextensions/schema/compile-schema.js'
import { customRules, plainConversion, scalePaths } from '#keelson/registry/generic/custom-rules.js'

const builtin = new BuiltinSchemas()
const schema = compileSchema(
  { type: 'object', properties: { spec: { type: 'object', properties: { a: {} } } } },
  { builtin },
)
const other = compileSchema({ type: 'object' }, { builtin })

t.test('a finalizer without a domain is warned of', async (t) => {
  const rules = customRules({
    kind: 'A',
    columns: undefined,
    namespaced: true,
    schema,
    subresources: {},
    conversions: {},
    conversion: undefined,
  })
  const object = { metadata: { name: 'a', finalizers: ['mine', 'example.com/mine', 'orphan'] } }
  t.match(rules.warningsOnCreate?.(object, {} as never), [/"mine": prefer a domain-qualified/])
})

t.test('another version has what its schema has', async (t) => {
  const { fromMemoryVersion } = plainConversion(
    { apiVersion: 'e.com/v1', schema },
    { apiVersion: 'e.com/v2', schema: other },
  )
  const object = { apiVersion: 'e.com/v1', kind: 'A', spec: { a: 1 } }
  t.same(fromMemoryVersion(object), { apiVersion: 'e.com/v2', kind: 'A' })
  t.match(object, { apiVersion: 'e.com/v1', spec: { a: 1 } }, 'what was given is as it was')
})

t.test('paths of scale come from the definition', async (t) => {
  t.equal(scalePaths({}), undefined)
  t.same(scalePaths({ scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } }), {
    specReplicasPath: '.spec.n',
    statusReplicasPath: '.status.n',
  })
})

t.test('an object of another kind is refused for that, whatever its schema says of it', async (t) => {
  const strict = compileSchema(
    { type: 'object', required: ['spec'], 'x-kubernetes-validations': [{ rule: "self.metadata.name == 'b'" }] },
    { builtin },
  )
  const rules = customRules({
    kind: 'A',
    columns: undefined,
    namespaced: true,
    schema: strict,
    subresources: {},
    conversions: {},
    conversion: undefined,
  })
  const told = (kind: string): unknown =>
    rules.validate?.({ kind, metadata: { name: 'a', namespace: 'n' } }, {} as never).map(({ field }) => field)
  t.strictSame(told('B'), ['kind', '<nil>'])
  t.strictSame(told('A'), ['spec', '<nil>'])
})

import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { encodeText } from '#keelson/api/json/encode.js'
import { shownTree } from '#keelson/api/json/shown-tree.js'
import type { JsonObject } from '#keelson/api/object.js'

const schemas = new BuiltinSchemas()
const pod = schemas.kind('', 'v1', 'Pod')!
const configMap = schemas.kind('', 'v1', 'ConfigMap')!

t.test('the tree of an object is what its JSON is parsed to', async (t) => {
  const objects: JsonObject[] = [
    {},
    { metadata: { name: 'a', labels: {}, annotations: { k: '' }, creationTimestamp: null } },
    {
      metadata: { unknown: 1 },
      spec: { containers: [{ name: 'c', args: [], env: null, resources: {} }], hostNetwork: false },
    },
    { spec: { containers: null, nodeSelector: { a: 'b', ['__proto__']: 'c' }, terminationGracePeriodSeconds: 0 } },
  ]
  for (const object of objects) t.strictSame(shownTree(object, pod), JSON.parse(encodeText(object, pod)))
})

t.test('a key may have any name', async (t) => {
  const object = JSON.parse('{"data":{"__proto__":"x","a":null}}') as JsonObject
  const tree = shownTree(object, configMap)
  t.strictSame(JSON.stringify(tree['data']), '{"__proto__":"x","a":""}')
  t.equal(({} as { x?: string }).x, undefined)
})

t.test('the object is left as it is', async (t) => {
  const object = { spec: { containers: [{ name: 'c' }] } }
  const before = JSON.stringify(object)
  shownTree(object, pod)
  t.equal(JSON.stringify(object), before)
})

import t from 'tap'
import type { Json, JsonObject } from '#keelson/api/object.js'
import { merge } from '#keelson/workers/endpoints/apply/merge.js'
import { map, scalar, setList, struct, workload } from '../patch/schemas.js'

const spec = (object: JsonObject, config: JsonObject): Json | undefined =>
  merge(workload, { spec: object }, { spec: config })['spec']
const names = (...given: string[]): JsonObject[] => given.map((name) => ({ name }))
const order = (object: string[], config: string[]): unknown =>
  (
    (spec({ containers: names(...object) }, { containers: names(...config) }) as JsonObject)[
      'containers'
    ] as JsonObject[]
  )
    .map(({ name }) => name)
    .join('')

t.test('leaves of the configuration win, the rest stays', async (t) => {
  t.strictSame(spec({ replicas: 1, revision: 2 }, { replicas: 5 }), { replicas: 5, revision: 2 })
})

t.test('neither argument is changed', async (t) => {
  const object = { spec: { replicas: 1, containers: names('a') } }
  const config = { spec: { containers: names('b') } }
  const before = structuredClone([object, config])
  merge(workload, object, config)
  t.strictSame([object, config], before)
})

t.test('atomic parts are replaced', async (t) => {
  t.strictSame(spec({ tolerations: [1, 2] }, { tolerations: [3] }), { tolerations: [3] })
  t.strictSame(spec({ nodeSelector: { a: '1' } }, { nodeSelector: { b: '2' } }), { nodeSelector: { b: '2' } })
})

t.test('items keep the order of the configuration; the object’s own stay between them', async (t) => {
  t.equal(order(['a', 'b', 'c'], ['c', 'a']), 'bca')
  t.equal(order(['a', 'b'], ['x']), 'abx')
  t.equal(order([], ['b', 'a']), 'ba')
  t.equal(order(['a', 'b'], []), 'ab')
  t.equal(order(['a', 'x', 'b'], ['a', 'b', 'c']), 'axbc')
})

t.test('an item that the object has several times is replaced by one', async (t) => {
  const merged = spec(
    {
      containers: [
        { name: 'a', image: '1' },
        { name: 'a', image: '2' },
      ],
    },
    { containers: names('a') },
  )
  t.strictSame(merged, { containers: names('a') })
})

t.test('sets gather, each value once', async (t) => {
  const type = struct('T', { set: setList(scalar()) })
  t.strictSame(merge(type, { set: ['a', 'b'] }, { set: ['b', 'c'] }), { set: ['a', 'b', 'c'] })
})

t.test('null and empty of the configuration stand when there is nothing else', async (t) => {
  t.strictSame(spec({}, { containers: null }), { containers: null })
  t.strictSame(spec({ containers: [] }, { containers: null }), { containers: null })
  t.strictSame(spec({ strategy: {} }, { strategy: {} }), { strategy: {} })
})

t.test('a key may be called as anything that every object has', async (t) => {
  const members = JSON.parse('{"constructor":"x","__proto__":"y"}') as JsonObject
  const merged = merge(map(scalar()), { a: '1' }, members)
  t.equal(JSON.stringify(merged), '{"a":"1","constructor":"x","__proto__":"y"}')
  t.equal(JSON.stringify(merge(map(scalar()), members, { a: '1' })), '{"constructor":"x","__proto__":"y","a":"1"}')
})

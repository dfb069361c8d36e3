import t from 'tap'
import type { Json } from '#keelson/api/object.js'
import { JsonIndex } from '#keelson/workers/endpoints/patch/json-index.js'
import { applyStrategicMergePatch } from '#keelson/workers/endpoints/patch/strategic-merge-patch.js'
import { isLinear } from '../../../support/growth.js'
import { workload } from './schemas.js'

const named = (count: number, more: object = {}): Json[] =>
  Array.from({ length: count }, (_, i) => ({ name: `c${i}`, ...more }))
const merge = ([spec, patch]: [Json, Json]): unknown => applyStrategicMergePatch({ spec }, { spec: patch }, workload)

t.test('merging long lists takes time by their length', async (t) => {
  const lists = (n: number): [Json, Json] => [{ containers: named(n) }, { containers: named(n, { image: 'x' }) }]
  t.ok(isLinear(10_000, lists, merge), 'by merge key')
  const gone = (n: number): [Json, Json] => [{ containers: named(n) }, { containers: named(n, { $patch: 'delete' }) }]
  t.ok(isLinear(10_000, gone, merge), 'items that are deleted')
  const order = (n: number): [Json, Json] => [
    { containers: named(n) },
    { containers: named(n).reverse(), '$setElementOrder/containers': named(n).reverse() },
  ]
  t.ok(isLinear(10_000, order, merge), 'in an order')
  const objects = (n: number): [Json, Json] => [
    { containers: named(1) },
    { containers: Array.from({ length: n }, (_, i) => ({ name: { i } })) },
  ]
  t.ok(isLinear(10_000, objects, merge), 'with keys that are objects')
  const deleted = (n: number): [Json, Json] => {
    const texts = Array.from({ length: n }, (_, i) => `f${i}`)
    return [{ finalizers: texts }, { '$deleteFromPrimitiveList/finalizers': texts, finalizers: null }]
  }
  t.ok(isLinear(10_000, deleted, merge), 'scalars that are deleted')
})

t.test('values are found by what they are', async (t) => {
  const index = new JsonIndex<number>()
  index.set('1', 1)
  index.set(1, 2)
  index.set(null, 3)
  index.set({ a: [1n], b: '2' }, 4)
  t.equal(index.size, 4)
  t.equal(index.get('1'), 1)
  t.equal(index.get(1n), 2)
  t.equal(index.get(null), 3)
  t.equal(index.get({ b: '2', a: [1] }), 4)
  t.equal(index.get({ b: '2' }), undefined)
  t.equal(index.get('{"a":[1],"b":"2"}'), undefined)
})

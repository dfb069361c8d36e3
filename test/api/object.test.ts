import t from 'tap'
import { deepCopy, type JsonObject } from '#keelson/api/object.js'

t.test('a copy is equal and shares nothing', async (t) => {
  const tree: JsonObject = { a: [1, { b: 'x' }, [null]], c: { d: 9007199254740993n, e: true }, f: undefined }
  const copy = deepCopy(tree)
  t.strictSame(copy, tree)
  t.same(Object.keys(copy), ['a', 'c', 'f'], 'in the same order')
  t.not(copy['a'], tree['a'])
  t.not((copy['a'] as JsonObject[])[1], (tree['a'] as JsonObject[])[1])
  t.not(copy['c'], tree['c'])
})

t.test('a member called __proto__ is a member like any other', async (t) => {
  const tree = JSON.parse('{"data":{"__proto__":{"polluted":true},"a":"b"}}') as JsonObject
  const copy = deepCopy(tree)
  t.equal(JSON.stringify(copy), JSON.stringify(tree))
  t.equal(Object.getPrototypeOf(copy['data']), Object.prototype)
})

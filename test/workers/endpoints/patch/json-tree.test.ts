import t from 'tap'
import type { Json, JsonObject } from '#keelson/api/object.js'
import {
  assertDepth,
  isObject,
  jsonEqual,
  jsonLength,
  MAX_DEPTH,
  ownValue,
  setMember,
} from '#keelson/workers/endpoints/patch/json-tree.js'

function nested(depth: number): Json {
  let value: Json = 1
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

t.test('objects are told from lists and null', async (t) => {
  t.same(
    [{}, [], null, undefined, 'x'].map((value) => isObject(value as Json | undefined)),
    [true, false, false, false, false],
  )
})

t.test('members are read and written whatever they are called', async (t) => {
  const object: JsonObject = {}
  t.equal(ownValue(object, 'constructor'), undefined)
  setMember(object, '__proto__', { polluted: true })
  t.same(Object.keys(object), ['__proto__'])
  t.equal(({} as { polluted?: boolean }).polluted, undefined)
  t.same(ownValue(object, '__proto__'), { polluted: true })
})

t.test('equality is of values', async (t) => {
  t.equal(jsonEqual({ a: 1, b: [2n] }, { b: [2], a: 1n }), true)
  t.equal(jsonEqual({ a: 1, b: undefined }, { a: 1 }), true)
  t.equal(jsonEqual({ a: 1 }, { a: 1, b: 2 }), false)
  t.equal(jsonEqual([1], { 0: 1 }), false)
  t.equal(jsonEqual([1], [1, 2]), false)
  t.equal(jsonEqual(null, {}), false)
  t.equal(jsonEqual(1, 1.5), false)
  t.equal(jsonEqual(2n ** 60n, 2 ** 60 + 1024), false)
  t.equal(jsonEqual('1', 1), false)
  t.equal(jsonEqual({}, JSON.parse('{"constructor":1}') as Json), false)
})

t.test('how long a value is as JSON, near enough for a limit', async (t) => {
  for (const value of [null, true, 15, 'text', [1, 2, 3], { a: 'b', c: [] }] as Json[])
    t.ok(Math.abs(jsonLength(value) - JSON.stringify(value).length) <= 3, JSON.stringify(value))
  t.equal(jsonLength(undefined), 0)
})

t.test('what is too deep is refused, without going as deep', async (t) => {
  const code = { code: 'PatchBadRequest' }
  assertDepth(nested(MAX_DEPTH))
  t.throws(() => assertDepth(nested(MAX_DEPTH + 2)), code)
  t.throws(() => assertDepth(nested(100_000)), code)
  t.throws(() => assertDepth(nested(10), MAX_DEPTH), code, 'where it stands counts')
  t.throws(() => jsonEqual(nested(5000), nested(5000)), code)
  t.throws(() => jsonLength(nested(5000)), code)
})

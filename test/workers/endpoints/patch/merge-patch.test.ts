import t from 'tap'
import type { Json } from '#keelson/api/object.js'
import { applyMergePatch } from '#keelson/workers/endpoints/patch/merge-patch.js'

/** The appendix of RFC 7386, those whose patch is an object. */
const RFC_CASES: readonly (readonly [Json, Json, Json])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]

t.test("the RFC's own examples", async (t) => {
  for (const [document, patch, expected] of RFC_CASES) t.strictSame(applyMergePatch(document, patch), expected)
})

t.test('a patch that is no object is a bad request', async (t) => {
  for (const patch of ['hello', null, 1, ['c']])
    t.throws(() => applyMergePatch({ a: 1 }, patch), { name: 'PatchError', code: 'PatchBadRequest' })
})

t.test('keeps bigints, shares nothing that it changes, and has no way to the prototype', async (t) => {
  const document = { spec: { revision: 9007199254740993n, kept: 1 } }
  const patch = JSON.parse('{"spec":{"kept":null},"__proto__":{"polluted":true}}') as Json
  const merged = applyMergePatch(document, patch)
  t.strictSame(merged['spec'], { revision: 9007199254740993n })
  t.strictSame(document, { spec: { revision: 9007199254740993n, kept: 1 } })
  t.notOk('polluted' in {})
  t.ok(Object.hasOwn(merged, '__proto__'))
})

t.test('refuses a patch that is too deep', async (t) => {
  let patch: Json = {}
  for (let i = 0; i < 20_000; i++) patch = { a: patch }
  t.throws(() => applyMergePatch({}, patch), { code: 'PatchBadRequest' })
})

import t, { type Test } from 'tap'
import type { Json } from '#keelson/api/object.js'
import { applyJsonPatch, MAX_OPERATIONS } from '#keelson/workers/endpoints/patch/json-patch.js'
import { jsonEqual } from '#keelson/workers/endpoints/patch/json-tree.js'
import { isPatchError, patchStatusError } from '#keelson/workers/endpoints/patch/patch-error.js'
import { EDGE_CASES, type JsonPatchCase, RFC_CASES } from './json-patch-cases.js'

function failure(run: () => unknown): { code: string; status: number } {
  try {
    run()
  } catch (error) {
    if (isPatchError(error)) return { code: error.code, status: patchStatusError(error).code }
    throw error
  }
  return { code: 'none', status: 200 }
}

function check(t: Test, { title, doc, patch, expected, code }: JsonPatchCase): void {
  if (expected === undefined) {
    t.equal(failure(() => applyJsonPatch(doc, patch)).code, code ?? 'PatchUnprocessable', title)
    return
  }
  t.ok(jsonEqual(applyJsonPatch(doc, patch), expected), title)
}

t.test("the RFC's own examples", async (t) => {
  for (const item of RFC_CASES) check(t, item)
})

t.test('edges', async (t) => {
  for (const item of EDGE_CASES) check(t, item)
  t.notOk('polluted' in {}, 'no case reached the prototype of objects')
})

t.test('leaves the document and the patch as they were', async (t) => {
  const doc = { a: { b: [1] } }
  const patch: Json = [
    { op: 'add', path: '/a/c', value: { d: [] } },
    { op: 'add', path: '/a/c/d/-', value: 1 },
  ]
  t.same(applyJsonPatch(doc, patch), { a: { b: [1], c: { d: [1] } } })
  t.same(doc, { a: { b: [1] } })
  t.same(patch[0], { op: 'add', path: '/a/c', value: { d: [] } })
})

t.test('refuses to make a document too deep', async (t) => {
  const nest = (levels: number): Json => (levels === 0 ? {} : { a: nest(levels - 1) })
  const deep = `/a${'/a'.repeat(500)}`
  t.equal(
    failure(() => applyJsonPatch(nest(600), [{ op: 'copy', from: '/a', path: `${deep}/b` }])).code,
    'PatchBadRequest',
  )
  t.equal(failure(() => applyJsonPatch({}, [{ op: 'add', path: '/a', value: nest(1200) }])).code, 'PatchBadRequest')
  t.equal(failure(() => applyJsonPatch({}, [{ op: 'add', path: '/a', value: nest(900) }])).code, 'none')
})

t.test('shares what it does not change', async (t) => {
  const doc = { a: { b: [1] }, c: { d: 1 } }
  const result = applyJsonPatch(doc, [{ op: 'add', path: '/a/b/-', value: 2 }]) as typeof doc
  t.equal(result.c, doc.c)
  t.same(doc.a.b, [1])
})

t.test('limits the number of operations and the copied bytes', async (t) => {
  const operation = { op: 'test', path: '', value: {} }
  t.same(
    failure(() => applyJsonPatch({}, Array(MAX_OPERATIONS + 1).fill(operation))),
    { code: 'PatchTooLarge', status: 413 },
  )
  t.same(applyJsonPatch({}, Array(MAX_OPERATIONS).fill(operation)), {})
  const doubling = Array.from({ length: 30 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/${i}` }))
  t.equal(failure(() => applyJsonPatch({ a: { x: 'y'.repeat(100) } }, doubling)).code, 'PatchUnprocessable')
})

t.test('answers 400, 422 or 413 as the API server does', async (t) => {
  t.equal(failure(() => applyJsonPatch({}, { op: 'add' })).status, 400)
  t.equal(failure(() => applyJsonPatch({}, [{ op: 'explode', path: '/x' }])).status, 422)
})

import t, { type Test } from 'tap'
import type { Json } from '#keelson/api/object.js'
import { applyJsonPatch, MAX_OPERATIONS } from '#keelson/workers/endpoints/patch/json-patch.js'
import { jsonEqual } from '#keelson/workers/endpoints/patch/json-tree.js'
import { isPatchError, patchStatusError } from '#keelson/workers/endpoints/patch/patch-error.js'
import { isLinear } from '../../../support/growth.js'
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

/** A document whose `wide` has as many members as the patch has operations: what looks at all of them each time is quadratic. */
const wideRun =
  (operations: (i: number) => Json[], wide: (size: number) => Json) =>
  (size: number): [Json, Json] => [
    { wide: wide(size), scalar: 1 },
    Array.from({ length: size / 2 }, (_, i) => operations(i)).flat(),
  ]
const members = (size: number): Json => Object.fromEntries(Array.from({ length: size }, (_, i) => [`k${i}`, 'v']))
const items = (size: number): Json => Array.from({ length: size }, () => ({}))
const run = ([document, patch]: [Json, Json]): unknown => applyJsonPatch(document, patch)

t.test('many operations on what is wide take time by what they change', async (t) => {
  const copied = wideRun(
    (i) => [
      { op: 'copy', from: '/scalar', path: '/other' },
      { op: 'add', path: `/wide/n${i}`, value: 'v' },
    ],
    members,
  )
  t.ok(isLinear(2000, copied, run), 'a copy of something else leaves what was changed before as the own')
  const moved = wideRun(
    () => [
      { op: 'move', from: '/wide', path: '/elsewhere' },
      { op: 'move', from: '/elsewhere', path: '/wide' },
    ],
    items,
  )
  t.ok(isLinear(2000, moved, run), 'what is moved is not measured anew')
})

t.test('what was copied belongs to two places', async (t) => {
  const result = applyJsonPatch({ a: { b: [1] } }, [
    { op: 'add', path: '/a/b/-', value: 2 },
    { op: 'copy', from: '/a', path: '/c' },
    { op: 'add', path: '/a/b/-', value: 3 },
    { op: 'add', path: '/c/b/-', value: 4 },
  ])
  t.same(result, { a: { b: [1, 2, 3] }, c: { b: [1, 2, 4] } })
})

t.test('a document gets too deep by no way round', async (t) => {
  const step = (from: string, path: string): Json => ({ op: 'move', from, path })
  const grow: Json[] = [{ op: 'add', path: '/a', value: { x: {} } }]
  // Each time the tree stands below a new one: what was known of its height is no longer true.
  for (let i = 0; i < 999; i++) grow.push({ op: 'add', path: '/b', value: {} }, step('/a', '/b/x'), step('/b', '/a'))
  t.equal(failure(() => applyJsonPatch({}, grow.slice(0, 3 * 990))).code, 'none')
  t.equal(failure(() => applyJsonPatch({}, grow)).code, 'PatchBadRequest')
})

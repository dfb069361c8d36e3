import t from 'tap'
import type { Json, JsonObject } from '#keelson/api/object.js'
import { applyJsonPatch } from '#keelson/workers/endpoints/patch/json-patch.js'
import { jsonEqual } from '#keelson/workers/endpoints/patch/json-tree.js'
import { applyMergePatch } from '#keelson/workers/endpoints/patch/merge-patch.js'
import { isPatchError } from '#keelson/workers/endpoints/patch/patch-error.js'
import { applyStrategicMergePatch } from '#keelson/workers/endpoints/patch/strategic-merge-patch.js'
import { fuzzRounds, fuzzSeed, Random } from '../support/fuzz.js'
import { workload } from '../workers/endpoints/patch/schemas.js'
import { randomJson, randomObject, randomOf } from './random-json.js'

/** The result, or undefined when the patch was refused; anything but a PatchError fails the test. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (isPatchError(error)) return undefined
    throw error
  }
}

function isJson(value: unknown): boolean {
  if (value === null || ['string', 'boolean', 'bigint'].includes(typeof value)) return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isJson)
  return typeof value === 'object' && Object.values(value).every(isJson)
}

t.test('JSON patch: a result or a PatchError, the arguments untouched', async (t) => {
  const random = new Random(fuzzSeed())
  const tokens = [
    '',
    '/',
    '/a',
    '/a/0',
    '/a/-',
    '/b/name',
    '/spec',
    '/~1',
    '/~0',
    '/01',
    '/__proto__/x',
    '/a/b/0/c',
    'a',
    '/~',
  ]
  let applied = 0
  for (let i = 0; i < fuzzRounds(20_000); i++) {
    const document = randomJson(random)
    const operation = (): Json => {
      if (random.chance(3)) return randomJson(random, 2)
      const op = random.pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'x'])
      return { op, path: random.pick(tokens), from: random.pick(tokens), value: randomJson(random, 2) }
    }
    const patch: Json = random.chance(2) ? randomJson(random) : Array.from({ length: random.below(4) }, operation)
    const before = structuredClone(document)
    const result = attempt(() => applyJsonPatch(document, patch))
    if (result !== undefined) applied++
    if (result !== undefined && !isJson(result)) t.fail('not JSON', { document, patch })
    if (!jsonEqual(document, before)) t.fail('changed its argument', { document, patch })
  }
  t.ok(applied > 100, `${applied} applied`)
  t.notOk('x' in {}, 'the prototype of objects is as it was')
})

t.test('merge patch: applying twice is applying once', async (t) => {
  const random = new Random(fuzzSeed())
  for (let i = 0; i < fuzzRounds(20_000); i++) {
    const document = randomJson(random)
    const patch = randomJson(random)
    const once = attempt(() => applyMergePatch(document, patch))
    if (once === undefined) continue
    if (!isJson(once) || !jsonEqual(applyMergePatch(once, patch), once)) t.fail('not idempotent', { document, patch })
  }
  t.pass('all rounds')
})

t.test('strategic merge patch: a result or a PatchError; a patch without noise is idempotent', async (t) => {
  const random = new Random(fuzzSeed())
  let refused = 0
  for (let i = 0; i < fuzzRounds(10_000); i++) {
    const document = randomOf(random, workload) as JsonObject
    const wild = random.chance(3)
    const noise = random.pick([0, 2, 10])
    const patch = wild ? randomObject(random) : randomOf(random, workload, noise)
    const before = structuredClone(document)
    const once = attempt(() => applyStrategicMergePatch(document, patch, workload))
    if (!jsonEqual(document, before)) t.fail('changed its argument', { document, patch })
    if (once === undefined) {
      refused++
      continue
    }
    if (!isJson(once)) t.fail('not JSON', { document, patch })
    const twice = attempt(() => applyStrategicMergePatch(once, patch, workload))
    if (!wild && noise === 0 && twice !== undefined && !jsonEqual(once, twice))
      t.fail('not idempotent', { document, patch, once, twice })
  }
  t.ok(refused > 50, `${refused} refused`)
})

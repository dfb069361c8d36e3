import t from 'tap'
import type { FieldSet } from '#keelson/api/managed-fields/field-set.js'
import { decodeFieldsV1 } from '#keelson/api/managed-fields/fields-v1.js'
import type { Json, JsonObject, ManagedFieldsEntry } from '#keelson/api/object.js'
import { isStatusError } from '#keelson/api/status.js'
import { FieldManager } from '#keelson/workers/endpoints/apply/field-manager.js'
import { isObject, jsonEqual } from '#keelson/workers/endpoints/patch/json-tree.js'
import { fuzzRounds, fuzzSeed, Random } from '../support/fuzz.js'
import { workload } from '../workers/endpoints/patch/schemas.js'
import { randomJson, randomOf } from './random-json.js'

const V1 = 'example.com/v1'
const manager = new FieldManager({ apiVersion: V1, kind: 'Workload', schema: workload })

function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (isStatusError(error)) return undefined
    throw error
  }
}

function randomWorkload(random: Random, noise: number): JsonObject {
  const drawn = randomOf(random, workload, noise)
  const { metadata, spec, status } = isObject(drawn) ? drawn : {}
  const labels = isObject(metadata) ? metadata['labels'] : undefined
  const finalizers = isObject(metadata) ? metadata['finalizers'] : undefined
  const kept: JsonObject = { name: 'w' }
  if (labels !== undefined) kept['labels'] = labels
  if (finalizers !== undefined) kept['finalizers'] = finalizers
  const object: JsonObject = { apiVersion: V1, kind: 'Workload', metadata: kept }
  if (spec !== undefined) object['spec'] = spec
  if (status !== undefined) object['status'] = status
  return object
}

const entriesOf = (object: JsonObject): ManagedFieldsEntry[] =>
  ((object['metadata'] as JsonObject)['managedFields'] ?? []) as unknown as ManagedFieldsEntry[]

/** Reading a set as a client would, and writing it again, gives the same text: the one spelling, in order, no "." alone. */
function isCanonical(object: JsonObject): boolean {
  return entriesOf(object).every(({ fieldsV1 }) => {
    const set = (fieldsV1 ?? {}) as FieldSet
    return JSON.stringify(decodeFieldsV1(fieldsV1)) === JSON.stringify(set)
  })
}

/** Leaves of the configuration are in the object. */
function contains(object: Json | undefined, config: Json | undefined): boolean {
  if (!isObject(config) || !isObject(object))
    return Array.isArray(config) || isObject(config) || jsonEqual(object, config)
  return Object.keys(config).every((key) => contains(object[key], config[key]))
}

function stored(object: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), uid: 'u' } }
}

t.test('appliers and updaters in any order: owners stay canonical, and applying again changes nothing', async (t) => {
  const random = new Random(fuzzSeed())
  let applied = 0
  for (let round = 0; round < fuzzRounds(400); round++) {
    let live: JsonObject | undefined
    for (let step = 0; step < 8; step++) {
      const now = Date.UTC(2026, 0, 1) + step * 1000
      const who = random.pick(['one', 'two', 'kubectl'])
      const config = randomWorkload(random, 0)
      const before = live
      if (live === undefined || random.chance(60)) {
        const force = random.chance(50)
        const result = attempt(() => manager.apply(before, config, who, { force, now }))
        if (result === undefined) continue
        applied++
        // Without any owner, as when nothing but empty lists was applied, the next apply is a first one.
        if (entriesOf(result.object).length === 0) continue
        const again = manager.apply(result.object, config, who, { now: now + 1000 })
        if (again.changed || !jsonEqual(again.object, result.object))
          t.fail('not idempotent', { live, config, who, result, again })
        if (!contains(result.object, config)) t.fail('lost what was applied', { live, config, result })
        live = stored(result.object)
      } else {
        const metadata = { ...(live['metadata'] as JsonObject), labels: { l: random.pick(['a', 'b']) } }
        live = manager.update(live, { ...config, metadata }, who, { now })
      }
      if (!isCanonical(live)) t.fail('not canonical', { entries: entriesOf(live) })
    }
  }
  t.ok(applied > 500, `${applied} applied`)
})

t.test('whatever is applied or written: an answer or a StatusError', async (t) => {
  const random = new Random(fuzzSeed())
  let refused = 0
  for (let round = 0; round < fuzzRounds(2_000); round++) {
    const live = stored(manager.update(undefined, randomWorkload(random, 0), 'x', { now: 0 }))
    const config = randomWorkload(random, random.pick([0, 3, 15]))
    const result = attempt(() => manager.apply(live, config, 'one', { force: true, now: 0 }))
    if (result === undefined) refused++
    const managedFields = random.chance(20)
      ? randomJson(random, 3)
      : ((live['metadata'] as JsonObject)['managedFields'] ?? null)
    const next = manager.update(
      live,
      { ...config, metadata: { ...(live['metadata'] as JsonObject), managedFields } },
      'two',
      { now: 0 },
    )
    if (!isCanonical(next)) t.fail('not canonical', { config, managedFields, next })
  }
  t.ok(refused > 100, `${refused} refused`)
})

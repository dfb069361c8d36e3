import t from 'tap'
import { has } from '#keelson/api/managed-fields/field-set.js'
import type { JsonObject } from '#keelson/api/object.js'
import {
  fieldsLastApplied,
  LAST_APPLIED_ANNOTATION,
  lastAppliedOf,
  withLastApplied,
} from '#keelson/workers/endpoints/apply/last-applied.js'
import { workload } from '../patch/schemas.js'

const V1 = 'example.com/v1'
const config = (spec: JsonObject): JsonObject => ({ apiVersion: V1, kind: 'Workload', metadata: { name: 'w' }, spec })
const live = (spec: JsonObject, text: string): JsonObject => ({
  ...config(spec),
  metadata: { name: 'w', annotations: { [LAST_APPLIED_ANNOTATION]: text } },
})
const owned = (object: JsonObject) => fieldsLastApplied(workload, object, V1)

t.test('what was set and has not changed may be taken over', async (t) => {
  const fields = owned(live({ replicas: 1, revision: 9 }, JSON.stringify(config({ replicas: 1, revision: 2 }))))!
  t.equal(has(fields, ['f:spec', 'f:replicas']), true)
  t.equal(has(fields, ['f:spec', 'f:revision']), false, 'somebody has changed it since')
})

t.test('an annotation that says nothing of use is none', async (t) => {
  t.equal(owned(config({})), undefined)
  for (const text of ['', '{', '[]', '"x"', JSON.stringify({ ...config({}), apiVersion: 'other/v1' })])
    t.equal(owned(live({}, text)), undefined, text)
  t.equal(owned(live({}, JSON.stringify(config({ containers: 'none' })))), undefined, 'it does not fit the type')
})

t.test('only a text counts', async (t) => {
  t.equal(lastAppliedOf({ metadata: { annotations: { [LAST_APPLIED_ANNOTATION]: 5 } } }), undefined)
  t.equal(lastAppliedOf({ metadata: 'x' }), undefined)
  t.equal(lastAppliedOf(live({}, 'x')), 'x')
})

t.test('the annotation follows what is applied, and never holds itself', async (t) => {
  const applied = live({ replicas: 2 }, 'old')
  const updated = withLastApplied(live({ replicas: 2 }, 'older'), applied)
  const text = lastAppliedOf(updated)!
  t.ok(text.endsWith('\n'))
  t.same(JSON.parse(text), { ...config({ replicas: 2 }), metadata: { name: 'w', annotations: {} } })
})

t.test('one that would be too large goes', async (t) => {
  const large = withLastApplied(live({}, 'old'), config({ data: 'x'.repeat(256 * 1024) }))
  t.equal(lastAppliedOf(large), undefined)
})

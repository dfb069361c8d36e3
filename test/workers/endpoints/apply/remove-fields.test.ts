import t from 'tap'
import { fieldSet, namedFields } from '#keelson/api/managed-fields/field-set.js'
import type { JsonObject } from '#keelson/api/object.js'
import { removeFields } from '#keelson/workers/endpoints/apply/remove-fields.js'
import { map, scalar, workload } from '../patch/schemas.js'

const OBJECT: JsonObject = {
  metadata: { labels: { a: '1', b: '2' } },
  spec: { replicas: 1, containers: [{ name: 'x', image: 'i' }, { name: 'y' }], nodeSelector: { a: '1' } },
}
const without = (...paths: string[][]) => removeFields(workload, OBJECT, fieldSet(...paths))

t.test('what is in the set goes, the rest is as it was', async (t) => {
  const before = structuredClone(OBJECT)
  t.strictSame(removeFields(workload, OBJECT, namedFields('metadata.labels.a', 'spec.replicas')), {
    metadata: { labels: { b: '2' } },
    spec: { containers: [{ name: 'x', image: 'i' }, { name: 'y' }], nodeSelector: { a: '1' } },
  })
  t.strictSame(OBJECT, before)
  t.equal(removeFields(workload, OBJECT, {}), OBJECT)
})

t.test('what is emptied becomes null', async (t) => {
  const gone = removeFields(workload, OBJECT, namedFields('metadata.labels.a', 'metadata.labels.b'))
  t.strictSame(gone['metadata'], { labels: null })
})

t.test('items go by their keys, whole or in part', async (t) => {
  const at = ['f:spec', 'f:containers']
  t.match(without([...at, 'k:{"name":"x"}'])['spec'], { containers: [{ name: 'y' }] })
  t.strictSame((without([...at, 'k:{"name":"x"}', 'f:image'])['spec'] as JsonObject)['containers'], [
    { name: 'x' },
    { name: 'y' },
  ])
})

t.test('a part of what is atomic is all of it', async (t) => {
  t.equal((without(['f:spec', 'f:nodeSelector', 'f:a'])['spec'] as JsonObject)['nodeSelector'], null)
})

t.test('a key may be called as anything that every object has', async (t) => {
  const members = JSON.parse('{"__proto__":"x","constructor":"y","a":"z"}') as JsonObject
  t.equal(JSON.stringify(removeFields(map(scalar()), members, namedFields('constructor'))), '{"__proto__":"x","a":"z"}')
})

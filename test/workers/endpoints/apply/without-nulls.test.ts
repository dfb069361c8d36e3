import t from 'tap'
import type { JsonObject } from '#keelson/api/object.js'
import { withoutNulls } from '#keelson/workers/endpoints/apply/without-nulls.js'
import { map, scalar, workload } from '../patch/schemas.js'

const clean = (spec: JsonObject, ...sources: JsonObject[]) =>
  withoutNulls(
    workload,
    { spec },
    sources.map((source) => ({ spec: source })),
  )

t.test('what removing left is not there', async (t) => {
  t.strictSame(clean({ replicas: 1, strategy: null, containers: null }), { spec: { replicas: 1 } })
  t.strictSame(clean({ containers: [{ name: 'a', args: null }] }), { spec: { containers: [{ name: 'a' }] } })
})

t.test('a null that somebody meant stays', async (t) => {
  t.strictSame(clean({ strategy: null, replicas: 1 }, { strategy: null }), { spec: { strategy: null, replicas: 1 } })
  t.strictSame(clean({ strategy: null }, { strategy: {} }), { spec: {} })
})

t.test('in a map of scalars a null is the empty value', async (t) => {
  t.strictSame(withoutNulls(map(scalar()), { a: null }, []), { a: null })
})

t.test('atomic parts are as they are', async (t) => {
  const value = { spec: { tolerations: [{ a: null }], nodeSelector: { b: null } } }
  t.equal(withoutNulls(workload, value, []), value, 'the same object when nothing was removed')
})

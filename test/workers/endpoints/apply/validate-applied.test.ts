import t from 'tap'
import type { Json } from '#keelson/api/object.js'
import { TypedError } from '#keelson/workers/endpoints/apply/typed-error.js'
import { validateApplied } from '#keelson/workers/endpoints/apply/validate-applied.js'
import { workload } from '../patch/schemas.js'

function problems(spec: Json): string[] {
  try {
    validateApplied(workload, { spec })
    return []
  } catch (error) {
    if (!(error instanceof TypedError)) throw error
    return error.problems.map(({ path, message }) => `${path} ${message}`)
  }
}

t.test('what fits has no problems', async (t) => {
  t.same(problems({ replicas: 1, revision: 2n ** 60n, containers: [{ name: 'a' }], data: { anything: [1] } }), [])
  t.same(problems(null), [], 'null fits everywhere')
  t.same(problems({ strategy: { rollingUpdate: { maxSurge: '25%' } } }), [])
  t.same(problems({ strategy: { rollingUpdate: { maxSurge: 1 } } }), [])
})

t.test('a field that is not declared is told, whatever it is called', async (t) => {
  t.same(problems({ replcas: 1 }), ['.spec.replcas field not declared in schema'])
  t.same(problems(JSON.parse('{"constructor":1}') as Json), ['.spec.constructor field not declared in schema'])
})

t.test('another kind of value is told', async (t) => {
  t.same(problems('text'), ['.spec expected map, got "text"'])
  t.same(problems({ containers: {} }), ['.spec.containers expected list, got a map'])
  t.same(problems({ replicas: 'one' }), ['.spec.replicas expected numeric (int or float), got "one"'])
  t.same(problems({ containers: [{ name: 'a', image: 5 }] }), [
    '.spec.containers[name="a"].image expected string, got 5',
  ])
  t.same(problems({ nodeSelector: { a: true } }), ['.spec.nodeSelector.a expected string, got true'])
  t.same(problems({ strategy: { rollingUpdate: { maxSurge: [] } } }), [
    '.spec.strategy.rollingUpdate.maxSurge expected any scalar, got a list',
  ])
})

t.test('all that is wrong is told, not only the first', async (t) => {
  t.equal(problems({ replicas: 'one', revision: 'two' }).length, 2)
})

t.test('items need their keys, each once', async (t) => {
  t.same(problems({ containers: [{ name: 'a' }, { name: 'a' }] }), [
    '.spec.containers duplicate entries for key [name="a"]',
  ])
  t.match(problems({ containers: ['a'] }), [/^\.spec\.containers element 0: /])
})

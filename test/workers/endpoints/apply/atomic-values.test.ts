import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { atomicValues } from '#keelson/workers/endpoints/apply/atomic-values.js'

const pod = new BuiltinSchemas().kind('', 'v1', 'Pod')!

t.test('lists, maps and structs that can only be replaced as a whole are named by their paths', async (t) => {
  t.same(atomicValues(pod, { spec: { nodeSelector: { a: 'b' } } }), ['.spec.nodeSelector'])
  t.same(atomicValues(pod, { spec: { containers: [{ name: 'a', command: ['x'], args: [] }] } }), [
    '.spec.containers[0].command',
    '.spec.containers[0].args',
  ])
})

t.test('what is merged by its keys may be changed in parts', async (t) => {
  t.same(
    atomicValues(pod, {
      metadata: { labels: { a: 'b' }, finalizers: ['x/y'] },
      spec: { containers: [{ name: 'a', env: [{ name: 'X', value: 'y' }] }], nodeSelector: null },
    }),
    [],
  )
})

import t from 'tap'
import { fieldSet, namedFields } from '#keelson/api/managed-fields/field-set.js'
import { fieldsOf, reconciled, withNamedFields } from '#keelson/workers/endpoints/apply/object-fields.js'
import { atomicList, map, scalar, struct, workload } from '../patch/schemas.js'

t.test('a configuration claims its leaves, its keys and its items, not what is on the way', async (t) => {
  const set = fieldsOf(workload, {
    metadata: { labels: { a: '1' }, finalizers: ['x'] },
    spec: { replicas: 1, containers: [{ name: 'c' }], tolerations: [1] },
  })
  t.strictSame(
    set,
    fieldSet(
      ['f:metadata', 'f:labels', 'f:a'],
      ['f:metadata', 'f:finalizers', 'v:"x"'],
      ['f:spec', 'f:replicas'],
      ['f:spec', 'f:containers', 'k:{"name":"c"}'],
      ['f:spec', 'f:containers', 'k:{"name":"c"}', 'f:name'],
      ['f:spec', 'f:tolerations'],
    ),
  )
})

t.test('what is empty or null is claimed itself', async (t) => {
  t.strictSame(
    fieldsOf(workload, { spec: { strategy: {}, containers: null } }),
    namedFields('spec.containers', 'spec.strategy'),
  )
  t.strictSame(fieldsOf(workload, {}), {})
})

t.test('fields on the way are named where the type declares them', async (t) => {
  const set = fieldSet(['f:spec', 'f:strategy', 'f:type'], ['f:metadata', 'f:labels', 'f:a'])
  t.strictSame(
    withNamedFields(set, workload),
    fieldSet(
      ['f:spec'],
      ['f:spec', 'f:strategy'],
      ['f:spec', 'f:strategy', 'f:type'],
      ['f:metadata'],
      ['f:metadata', 'f:labels'],
      ['f:metadata', 'f:labels', 'f:a'],
    ),
  )
})

t.test('fields below what has become atomic become the atomic field', async (t) => {
  const type = struct('T', { list: atomicList(scalar()), labels: map(scalar(), true), open: map(scalar()) })
  const set = fieldSet(['f:list', 'v:"x"'], ['f:labels', 'f:a'], ['f:open', 'f:a'])
  t.strictSame(reconciled(set, type), fieldSet(['f:list'], ['f:labels'], ['f:open', 'f:a']))
  const fine = namedFields('open.a')
  t.equal(reconciled(fine, type), fine, 'the same set when nothing had to change')
})

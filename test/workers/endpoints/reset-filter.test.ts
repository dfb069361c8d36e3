import t from 'tap'
import { type FieldSet, fieldSet, namedFields } from '#keelson/api/managed-fields/field-set.js'
import { ownedFilters, resetFilters } from '#keelson/workers/endpoints/reset-filter.js'

const through = (filters: ReturnType<typeof resetFilters>, set: FieldSet): FieldSet => filters.get('v1')!(set)

t.test('what an endpoint resets nobody owns through it, with all below', async (t) => {
  const filters = resetFilters(['v1', 'v2'], [['status'], ['spec', 'secret']])
  t.same([...filters.keys()], ['v1', 'v2'])
  const set = namedFields('spec.a', 'spec.secret.deep', 'status', 'status.phase')
  t.strictSame(through(filters, set), namedFields('spec.a'))
  t.strictSame(through(resetFilters(['v1'], []), set), set, 'nothing is reset')
})

t.test('what an endpoint alone writes is all that is owned through it', async (t) => {
  const filters = ownedFilters(['v1'], [['f:spec', 'f:containers', '*', 'f:resources']])
  const item = 'k:{"name":"a"}'
  const resources = ['f:spec', 'f:containers', item, 'f:resources', 'f:limits']
  const set = fieldSet(resources, ['f:spec', 'f:containers', item, 'f:image'], ['f:metadata', 'f:labels'], ['f:spec'])
  t.strictSame(through(filters, set), fieldSet(resources))
  t.strictSame(through(filters, namedFields('metadata.labels')), {})
})

t.test('a field that is owned itself stays when its path is named', async (t) => {
  t.strictSame(through(ownedFilters(['v1'], [['f:spec']]), namedFields('spec', 'status')), namedFields('spec'))
})

import t from 'tap'
import { fieldSet, namedFields } from '#keelson/api/managed-fields/field-set.js'
import type { Manager } from '#keelson/api/managed-fields/managed-fields.js'
import { ConflictError, conflictsOf } from '#keelson/workers/endpoints/apply/conflict.js'

const manager = (name: string, more: Partial<Manager> = {}): Manager => ({
  name,
  operation: 'Apply',
  apiVersion: 'v1',
  subresource: '',
  ...more,
})

t.test('one conflict is one line', async (t) => {
  const error = new ConflictError(conflictsOf([{ manager: manager('b'), set: namedFields('spec.replicas') }]))
  t.equal(error.message, 'Apply failed with 1 conflict: conflict with "b": .spec.replicas')
})

t.test('many are grouped by who has the fields, in the order of managers', async (t) => {
  const error = new ConflictError(
    conflictsOf([
      { manager: manager('b', { operation: 'Update' }), set: namedFields('spec.b', 'spec.a') },
      { manager: manager('a', { subresource: 'scale' }), set: fieldSet(['f:spec', 'k:{"name":"x"}', 'f:image']) },
    ]),
  )
  t.equal(
    error.message,
    [
      'Apply failed with 3 conflicts: conflicts with "a" with subresource "scale":',
      '- .spec[name="x"].image',
      'conflicts with "b" using v1:',
      '- .spec.a',
      '- .spec.b',
    ].join('\n'),
  )
  t.match(error.toStatusError().status, {
    code: 409,
    reason: 'Conflict',
    details: { causes: { length: 3, 1: { reason: 'FieldManagerConflict', field: '.spec.a' } } },
  })
})

t.test('fields that may be taken are no conflict', async (t) => {
  const error = new ConflictError(conflictsOf([{ manager: manager('b'), set: namedFields('x', 'y') }]))
  t.same(
    error.without(namedFields('x'))?.conflicts.map(({ path }) => path),
    [['f:y']],
  )
  t.equal(error.without(namedFields('x', 'y')), undefined)
})

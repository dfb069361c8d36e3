import t from 'tap'
import { FieldPath, invalid, required } from '#keelson/api/field-error.js'
import { newConflict, newGenericServerResponse, newInvalid, newNotFound } from '#keelson/api/status.js'

t.test('an error about an object names its resource in details.kind', async (t) => {
  const { status } = newNotFound({ group: 'apps', resource: 'deployments' }, 'web')
  t.same(status, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'deployments.apps "web" not found',
    reason: 'NotFound',
    details: { name: 'web', group: 'apps', kind: 'deployments' },
    code: 404,
  })
  t.equal(newConflict({ group: '', resource: 'pods' }, 'a', 'changed').status.details?.group, undefined)
})

t.test('an invalid object lists a cause for each field', async (t) => {
  const spec = FieldPath.of('spec')
  const { status } = newInvalid({ group: '', kind: 'Pod' }, 'a', [
    required(spec.child('containers')),
    invalid(spec.child('ports').index(0), 70000n, 'must be between 1 and 65535'),
  ])
  t.equal(status.code, 422)
  t.same(status.details?.causes, [
    { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers' },
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 70000: must be between 1 and 65535',
      field: 'spec.ports[0]',
    },
  ])
  t.match(status.message, 'Pod "a" is invalid: [spec.containers: Required value, spec.ports[0]: ')
})

t.test('a generic answer has empty details', async (t) => {
  t.same(newGenericServerResponse(404).status.details, {})
})

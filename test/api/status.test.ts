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

t.test('what is wrong in a million places is told in a thousand', async (t) => {
  const errors = Array.from({ length: 100_000 }, (_, i) => required(FieldPath.of('rules').index(i)))
  const { status } = newInvalid({ group: '', kind: 'Pod' }, 'a', errors)
  t.equal(status.details?.causes?.length, 1000)
  t.match(status.message, /rules\[999\]: Required value, and 99000 more\]$/)
  const long = Array.from({ length: 100 }, () => invalid(FieldPath.of('data'), 'x'.repeat(100_000), 'no'))
  t.ok(JSON.stringify(newInvalid({ group: '', kind: 'Pod' }, 'a', long).status).length < 4_000_000, 'nor at any length')
})

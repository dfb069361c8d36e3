import t from 'tap'
import { Cancellation } from '#keelson/lib/cancellation.js'
import { admissionAttributes, admitObject, validateAttempt } from '#keelson/workers/endpoints/admission-attributes.js'
import { EndpointFixture, SOMEBODY } from '../../support/endpoint-fixture.js'

const fixture = new EndpointFixture()

t.test('admission sees the request, its objects and its options', async (t) => {
  const signal = new Cancellation()
  const path = '/apis/apps/v1/namespaces/default/deployments/d/scale'
  const worker = fixture.worker('PUT', path, { signal })
  const object = { metadata: { name: 'd' } }
  const oldObject = { metadata: { name: 'd', uid: 'u' } }
  const seen = admissionAttributes(worker, 'UPDATE', true, { object, oldObject, name: 'd' }, { force: true })
  t.match(seen, {
    operation: 'UPDATE',
    resource: { group: 'apps', version: 'v1', resource: 'deployments' },
    subresource: 'scale',
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    name: 'd',
    namespace: 'default',
    options: { force: true },
    dryRun: true,
    user: SOMEBODY,
    reinvocation: { isReinvoke: false, requested: false },
  })
  t.equal(seen.object, object)
  t.equal(seen.oldObject, oldObject)
  t.equal(seen.signal, signal)
  seen.addWarning('w')
  seen.addAnnotation('k', 'v')
  t.same(worker.warnings, ['w'])
  t.match(worker.withAnnotations({ status: 200, contentType: '', warnings: [], headers: [], body: new Uint8Array() }), {
    auditAnnotations: { k: 'v' },
  })
})

t.test('a namespace is its own; what is in none has none', async (t) => {
  const namespaceOf = (path: string, name: string) =>
    admissionAttributes(fixture.worker('DELETE', path), 'DELETE', false, { name }).namespace
  t.equal(namespaceOf('/api/v1/namespaces/x', 'x'), 'x')
  t.equal(namespaceOf('/api/v1/nodes/n', 'n'), '')
  t.equal(namespaceOf('/api/v1/namespaces/x/pods/p', 'p'), 'x')
})

t.test('what the attempt before took is given back before the next is validated', async (t) => {
  const log: string[] = []
  const counting = new EndpointFixture({
    validate: ({ onOutcome }) => {
      log.push('take')
      onOutcome((succeeded) => void log.push(succeeded ? 'keep' : 'give back'))
    },
  })
  const worker = counting.worker('PUT', '/api/v1/namespaces/default/configmaps/a')
  const attempt = () =>
    validateAttempt(worker, admissionAttributes(worker, 'UPDATE', false, { object: {}, oldObject: {}, name: 'a' }))
  await attempt()
  await attempt()
  await worker.settle(true)
  t.same(log, ['take', 'give back', 'take', 'keep'])
})

t.test('managers that admission made unreadable are put back, with a warning', async (t) => {
  const entry = {
    manager: 'm',
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': {} },
  }
  const admitted = async (managedFields: object[] | undefined) => {
    const spoiler = new EndpointFixture({
      admit: ({ object }) => {
        if (managedFields === undefined) delete object!.metadata!.managedFields
        else object!.metadata!.managedFields = managedFields as (typeof entry)[]
      },
    })
    const worker = spoiler.worker('POST', '/api/v1/namespaces/default/configmaps')
    const object = { metadata: { name: 'a', managedFields: [entry] } }
    await admitObject(worker, admissionAttributes(worker, 'CREATE', false, { object, name: 'a' }))
    return { managers: object.metadata.managedFields, warnings: worker.warnings.length }
  }
  t.same(await admitted([{ ...entry, fieldsV1: { nonsense: {} } }]), { managers: [entry], warnings: 1 })
  t.same(await admitted([{ ...entry, operation: 'Guess' }]), { managers: [entry], warnings: 1 })
  t.same(await admitted([{ ...entry, manager: 'other' }]), { managers: [{ ...entry, manager: 'other' }], warnings: 0 })
  t.same(await admitted(undefined), { managers: undefined, warnings: 0 })
})

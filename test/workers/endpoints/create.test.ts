import t from 'tap'
import { newForbiddenRequest } from '#keelson/auth/forbidden.js'
import { Cancellation } from '#keelson/lib/cancellation.js'
import { create } from '#keelson/workers/endpoints/create.js'
import { answered, EndpointFixture, refusal, type SentRequest } from '../../support/endpoint-fixture.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const post = (fixture: EndpointFixture, body: object, query = '', sent: SentRequest = {}) =>
  create(fixture.worker('POST', `${CONFIGMAPS}${query}`, { body, ...sent }))

t.test('an object is stored and shown with what the server adds', async (t) => {
  const fixture = new EndpointFixture()
  const { status, object } = answered(await post(fixture, { metadata: { name: 'a' }, data: { k: 'v' } }))
  t.equal(status, 201)
  t.match(object, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'a', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z', uid: /^[0-9a-f-]{36}$/ },
    data: { k: 'v' },
  })
  t.match(object.metadata?.managedFields, [{ manager: 'tester', operation: 'Update', fieldsV1: { 'f:data': {} } }])
  t.same(await fixture.stored(`${CONFIGMAPS}/a`), object)
})

t.test('what a client copied from another object does not come along', async (t) => {
  const fixture = new EndpointFixture()
  const metadata = {
    name: 'a',
    uid: 'another',
    creationTimestamp: '2001-01-01T00:00:00Z',
    deletionTimestamp: '2001-01-01T00:00:00Z',
    deletionGracePeriodSeconds: 5,
    selfLink: '/x',
  }
  const { object } = answered(await post(fixture, { metadata }))
  t.not(object.metadata?.uid, 'another')
  t.equal(object.metadata?.creationTimestamp, '2026-01-01T00:00:00Z')
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'])
    t.notOk(Object.hasOwn(object.metadata!, field), field)
})

t.test('a resourceVersion in the body is refused, and nothing is stored', async (t) => {
  const fixture = new EndpointFixture()
  const status = await refusal(post(fixture, { metadata: { name: 'a', resourceVersion: '5' } }))
  t.equal(status.code, 500)
  t.equal(await fixture.isStored(`${CONFIGMAPS}/a`), false)
})

t.test('a name that is taken is AlreadyExists, and what is stored stays', async (t) => {
  const fixture = new EndpointFixture()
  await post(fixture, { metadata: { name: 'a' }, data: { k: 'first' } })
  t.match(await refusal(post(fixture, { metadata: { name: 'a' }, data: { k: 'second' } })), {
    code: 409,
    reason: 'AlreadyExists',
  })
  t.match(await fixture.stored(`${CONFIGMAPS}/a`), { data: { k: 'first' } })
})

t.test('the namespace is that of the path', async (t) => {
  const fixture = new EndpointFixture()
  t.match(await refusal(post(fixture, { metadata: { name: 'a', namespace: 'other' } })), { code: 400 })
  const nodes = fixture.worker('POST', '/api/v1/nodes', { body: { metadata: { name: 'n', namespace: 'other' } } })
  const { object } = answered(await create(nodes))
  t.equal(object.metadata?.namespace, undefined, 'of what is in no namespace it is dropped')
})

t.test('a dry run answers as a create does and stores nothing', async (t) => {
  const fixture = new EndpointFixture()
  const { status, object } = answered(await post(fixture, { metadata: { name: 'a' } }, '?dryRun=All'))
  t.equal(status, 201)
  t.match(object.metadata, { name: 'a', uid: /./ })
  t.equal(object.metadata?.resourceVersion, undefined, 'it has no version: it is not there')
  t.equal(await fixture.isStored(`${CONFIGMAPS}/a`), false)
  t.same(
    fixture.kv.calls.filter((call) => call === 'put'),
    [],
  )
  await post(fixture, { metadata: { name: 'a' } })
  const again = await refusal(post(fixture, { metadata: { name: 'a' } }, '?dryRun=All'))
  t.equal(again.reason, 'AlreadyExists', 'it would have been refused')
})

t.test('mutating admission changes what is stored, validating admission sees it finished', async (t) => {
  const seen: unknown[] = []
  const fixture = new EndpointFixture({
    admit: ({ object }) => {
      object!['data'] = { ...(object!['data'] as object), admitted: 'yes' }
    },
    validate: ({ object, operation, dryRun, name }) =>
      void seen.push({ uid: object?.metadata?.uid !== undefined, data: object?.['data'], operation, dryRun, name }),
  })
  await post(fixture, { metadata: { name: 'a' }, data: { k: 'v' } })
  t.match(await fixture.stored(`${CONFIGMAPS}/a`), { data: { k: 'v', admitted: 'yes' } })
  t.same(seen, [{ uid: true, data: { k: 'v', admitted: 'yes' }, operation: 'CREATE', dryRun: false, name: 'a' }])
})

t.test('a refusal by admission stores nothing', async (t) => {
  for (const step of ['admit', 'validate'] as const) {
    const fixture = new EndpointFixture({
      [step]: () => {
        throw newForbiddenRequest({ verb: 'create', user: { name: 'u' } } as never, 'no')
      },
    })
    t.match(await refusal(post(fixture, { metadata: { name: 'a' } })), { code: 403 }, step)
    t.same(fixture.kv.calls, [], step)
  }
})

t.test('a name is generated when there is none; admission sees it when it is there', async (t) => {
  const seen: string[] = []
  const fixture = new EndpointFixture({
    admit: ({ name }) => void seen.push(`admit ${name}`),
    validate: ({ name }) => void seen.push(`validate ${name}`),
  })
  const { object } = answered(await post(fixture, { metadata: { generateName: 'a-' } }))
  t.match(object.metadata?.name, /^a-[a-z0-9]{5}$/)
  t.same(seen, ['admit ', `validate ${object.metadata?.name}`])
})

t.test('fields that nobody knows are warned of, refused or passed over, as the client says', async (t) => {
  const body = { metadata: { name: 'a' }, dta: {} }
  const fixture = new EndpointFixture()
  t.same((await post(fixture, body, '?dryRun=All')).warnings, ['unknown field "dta"'])
  t.same((await post(fixture, body, '?dryRun=All&fieldValidation=Ignore')).warnings, [])
  t.match(await refusal(post(fixture, body, '?dryRun=All&fieldValidation=Strict')), {
    code: 400,
    message: /unknown field "dta"/,
  })
})

t.test('an object that breaks its rules is Invalid with the field that does', async (t) => {
  const fixture = new EndpointFixture()
  t.match(await refusal(post(fixture, { metadata: { name: 'Not_A_Name' } })), {
    code: 422,
    reason: 'Invalid',
    details: { causes: [{ field: 'metadata.name', reason: 'FieldValueInvalid' }] },
  })
})

t.test('a write whose answer is lost is a timeout; the storage is told when nobody waits any longer', async (t) => {
  const fixture = new EndpointFixture()
  fixture.kv.failNext({ call: 'put', when: 'after' })
  t.match(await refusal(post(fixture, { metadata: { name: 'a' } })), { code: 504, reason: 'Timeout' })
  const signal = new Cancellation()
  await post(fixture, { metadata: { name: 'b' } }, '', { signal })
  t.equal(fixture.kv.lastWrite?.signal, signal)
})

t.test('a handler creates in place of the store, with the name of the path', async (t) => {
  const seen: unknown[] = []
  const fixture = new EndpointFixture({ validate: ({ name, subresource }) => void seen.push({ name, subresource }) })
  const pods = '/api/v1/namespaces/default/pods'
  await fixture.create(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } })
  seen.length = 0
  const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }
  const { status, object } = answered(await create(fixture.worker('POST', `${pods}/p/binding`, { body: binding })))
  t.equal(status, 201)
  t.match(object, { kind: 'Status', status: 'Success', code: 201 })
  t.match(await fixture.stored(`${pods}/p`), { spec: { nodeName: 'n' } })
  t.same(seen, [{ name: 'p', subresource: 'binding' }])
})

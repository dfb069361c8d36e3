import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { Cancellation } from '#keelson/lib/cancellation.js'
import { checkName, checkNamespace, update, updaterOf } from '#keelson/workers/endpoints/update.js'
import { answered, EndpointFixture, refusal, type SentRequest } from '../../support/endpoint-fixture.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const A = `${CONFIGMAPS}/a`
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/l'
const put = (fixture: EndpointFixture, body: object, query = '', sent: SentRequest = {}) =>
  update(fixture.worker('PUT', `${A}${query}`, { body, ...sent }))

async function withA(fixture = new EndpointFixture()): Promise<{ fixture: EndpointFixture; a: KubeObject }> {
  return { fixture, a: await fixture.create(CONFIGMAPS, { metadata: { name: 'a' }, data: { k: '0' } }) }
}

t.test('the whole object is replaced', async (t) => {
  const { fixture, a } = await withA()
  const { status, object } = answered(await put(fixture, { metadata: { name: 'a' }, data: { other: '1' } }))
  t.equal(status, 200)
  t.same(object['data'], { other: '1' })
  t.equal(object.metadata?.uid, a.metadata?.uid)
  t.equal(object.metadata?.creationTimestamp, a.metadata?.creationTimestamp)
  t.not(object.metadata?.resourceVersion, a.metadata?.resourceVersion)
  t.same(await fixture.stored(A), object)
})

t.test('an update that says the same is no write', async (t) => {
  const { fixture, a } = await withA()
  fixture.kv.calls.length = 0
  const { status, object } = answered(await put(fixture, a))
  t.equal(status, 200)
  t.equal(object.metadata?.resourceVersion, a.metadata?.resourceVersion)
  t.same(fixture.kv.calls, ['get'])
})

t.test('a version that is not the newest is a conflict; none at all replaces whatever is there', async (t) => {
  const { fixture, a } = await withA()
  await fixture.interfere(A, (object) => {
    object['data'] = { k: 'theirs' }
  })
  t.match(await refusal(put(fixture, { ...a, data: { k: 'ours' } })), { code: 409, reason: 'Conflict' })
  t.match(await fixture.stored(A), { data: { k: 'theirs' } })
  await put(fixture, { metadata: { name: 'a' }, data: { k: 'ours' } })
  t.match(await fixture.stored(A), { data: { k: 'ours' } })
})

t.test('a version that is none at all is told so', async (t) => {
  const { fixture } = await withA()
  t.match(await refusal(put(fixture, { metadata: { name: 'a', resourceVersion: 'abc' } })), { code: 500 })
})

t.test('another uid is another object', async (t) => {
  const { fixture, a } = await withA()
  t.match(await refusal(put(fixture, { metadata: { name: 'a', uid: 'another' } })), { code: 409, reason: 'Conflict' })
  t.equal((await put(fixture, { metadata: { name: 'a', uid: a.metadata?.uid } })).status, 200)
  t.equal((await put(fixture, { metadata: { name: 'a', uid: '' } })).status, 200, 'an empty one demands nothing')
})

t.test('an update without a version is made again on what another writer left', async (t) => {
  let attempts = 0
  const { fixture } = await withA(
    new EndpointFixture({ validate: ({ operation }) => void (operation === 'UPDATE' && attempts++) }),
  )
  let storms = 3
  fixture.kv.interfere = async (call) => {
    if (call !== 'put' || storms-- <= 0) return
    const faults = fixture.kv.interfere
    fixture.kv.interfere = () => undefined
    await fixture.interfere(A, (object) => {
      object.metadata!.annotations = { storm: String(storms) }
    })
    fixture.kv.interfere = faults
  }
  const { object } = answered(await put(fixture, { metadata: { name: 'a' }, data: { k: 'ours' } }))
  t.same(object['data'], { k: 'ours' })
  t.equal(attempts, 4, 'each attempt is validated')
})

t.test('what admission took for an attempt that lost the race is given back before the next', async (t) => {
  const outcomes: string[] = []
  const { fixture } = await withA(
    new EndpointFixture({
      validate: ({ operation, onOutcome }) => {
        if (operation !== 'UPDATE') return
        outcomes.push('taken')
        onOutcome((succeeded) => void outcomes.push(succeeded ? 'kept' : 'given back'))
      },
    }),
  )
  let once = true
  fixture.kv.interfere = async (call) => {
    if (call !== 'put' || !once) return
    once = false
    await fixture.interfere(A, (object) => {
      object.metadata!.annotations = { storm: '1' }
    })
  }
  const worker = fixture.worker('PUT', A, { body: { metadata: { name: 'a' }, data: { k: 'ours' } } })
  await update(worker)
  await worker.settle(true)
  t.same(outcomes, ['taken', 'given back', 'taken', 'kept'])
})

t.test('the name and the namespace are those of the path', async (t) => {
  const { fixture } = await withA()
  t.match(await refusal(put(fixture, { metadata: { name: 'b' } })), { code: 400 })
  t.match(await refusal(put(fixture, { metadata: {} })), { code: 400, message: /name must be provided/ })
  t.match(await refusal(put(fixture, { metadata: { name: 'a', namespace: 'other' } })), { code: 400 })
  const worker = fixture.worker('PUT', A)
  t.doesNotThrow(() => checkNamespace(worker, { metadata: { namespace: 'default' } }))
  t.doesNotThrow(() => checkNamespace(fixture.worker('PUT', '/api/v1/nodes/n'), { metadata: { namespace: 'x' } }))
  t.throws(() => checkName({ metadata: { name: 'x' } }, 'y'), { code: 400 })
})

t.test('what does not exist is not found, unless the kind lets an update create it', async (t) => {
  const fixture = new EndpointFixture()
  t.match(await refusal(put(fixture, { metadata: { name: 'a' } })), { code: 404, reason: 'NotFound' })
  const lease = (metadata: object) => update(fixture.worker('PUT', LEASE, { body: { metadata } }))
  const { status, object } = answered(await lease({ name: 'l' }))
  t.equal(status, 201)
  t.equal((await lease(object.metadata!)).status, 200)
  t.match(await refusal(lease({ name: 'l' })), { code: 422 }, 'this kind wants to be told the version')
})

t.test('who may update may not create by it', async (t) => {
  const fixture = new EndpointFixture()
  fixture.forbiddenVerbs.add('create')
  const answer = update(fixture.worker('PUT', LEASE, { body: { metadata: { name: 'l' } } }))
  t.match(await refusal(answer), { code: 403, reason: 'Forbidden' })
  t.equal(await fixture.isStored(LEASE), false)
})

t.test('a dry run answers as an update does and stores nothing', async (t) => {
  const { fixture, a } = await withA()
  const body = { metadata: { name: 'a' }, data: { k: 'tried' } }
  const { status, object } = answered(await put(fixture, body, '?dryRun=All'))
  t.equal(status, 200)
  t.same(object['data'], { k: 'tried' })
  t.same(await fixture.stored(A), a)
  const stale = { metadata: { name: 'a', resourceVersion: '1' } }
  t.match(await refusal(put(fixture, stale, '?dryRun=All')), { code: 409 }, 'and is refused as one is')
  const lease = update(fixture.worker('PUT', `${LEASE}?dryRun=All`, { body: { metadata: { name: 'l' } } }))
  t.equal((await lease).status, 201)
  t.equal(await fixture.isStored(LEASE), false)
})

t.test('admission sees both states, and what it changes is stored', async (t) => {
  const seen: unknown[] = []
  const { fixture } = await withA(
    new EndpointFixture({
      admit: ({ operation, object }) => {
        if (operation === 'UPDATE') object!['data'] = { ...(object!['data'] as object), admitted: 'yes' }
      },
      validate: ({ operation, object, oldObject }) =>
        void seen.push([operation, oldObject?.['data'], object?.['data']]),
    }),
  )
  await put(fixture, { metadata: { name: 'a' }, data: { k: '1' } })
  t.same(seen.at(-1), ['UPDATE', { k: '0' }, { k: '1', admitted: 'yes' }])
  t.match(await fixture.stored(A), { data: { k: '1', admitted: 'yes' } })
})

t.test('a request that was given up stops before it writes', async (t) => {
  const { fixture, a } = await withA()
  const signal = new Cancellation()
  fixture.kv.interfere = () => signal.abort(new Error('gone'))
  t.match(await refusal(put(fixture, { metadata: { name: 'a' }, data: { k: 'x' } }, '', { signal })), { code: 504 })
  t.same(await fixture.stored(A), a)
})

t.test('a subresource with a handler is updated by it, every other by the store', async (t) => {
  const fixture = new EndpointFixture()
  const { endpoint } = fixture.worker('PUT', A)
  t.equal(updaterOf(endpoint), endpoint.store)
  const scale = fixture.worker('PUT', '/apis/apps/v1/namespaces/default/deployments/d/scale').endpoint
  t.equal(updaterOf(scale).update, scale.handler?.update)
})

import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { encodeBuiltin } from '#keelson/api/protobuf/builtin.js'
import { newForbidden } from '#keelson/api/status.js'
import { Cancellation } from '#keelson/lib/cancellation.js'
import { deleteCollection, deleteObject } from '#keelson/workers/endpoints/delete.js'
import { answered, EndpointFixture, refusal, type SentRequest } from '../../support/endpoint-fixture.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const A = `${CONFIGMAPS}/a`
const PODS = '/api/v1/namespaces/default/pods'
const remove = (fixture: EndpointFixture, url = A, sent: SentRequest = {}) =>
  deleteObject(fixture.worker('DELETE', url, sent))
const removeAll = (fixture: EndpointFixture, query = '', workers = 1, sent: SentRequest = {}) =>
  deleteCollection(fixture.worker('DELETE', `${CONFIGMAPS}${query}`, sent), workers)

async function withA(metadata: object = {}): Promise<{ fixture: EndpointFixture; a: KubeObject }> {
  const fixture = new EndpointFixture()
  return { fixture, a: await fixture.create(CONFIGMAPS, { metadata: { name: 'a', ...metadata } }) }
}

async function withThree(...plugins: ConstructorParameters<typeof EndpointFixture>): Promise<EndpointFixture> {
  const fixture = new EndpointFixture(...plugins)
  for (const name of ['a', 'b', 'c'])
    await fixture.create(CONFIGMAPS, { metadata: { name, labels: { odd: String(name !== 'b') } } })
  return fixture
}

async function left(fixture: EndpointFixture): Promise<string[]> {
  const { kvs } = await fixture.memory.list('/registry/configmaps/default/')
  return kvs.map(({ key }) => key.slice(key.lastIndexOf('/') + 1))
}

t.test('an object goes, and the answer names it', async (t) => {
  const { fixture, a } = await withA()
  const { status, object } = answered(await remove(fixture))
  t.equal(status, 200)
  t.match(object, { kind: 'Status', status: 'Success', details: { name: 'a', uid: a.metadata?.uid } })
  t.equal(await fixture.isStored(A), false)
  t.same(fixture.deleted, ['configmaps/a'], 'the other parts of the server are told')
  t.match(await refusal(remove(fixture)), { code: 404 })
})

t.test('preconditions are kept', async (t) => {
  const { fixture, a } = await withA()
  const wrong = [{ uid: 'another' }, { resourceVersion: '1' }]
  for (const preconditions of wrong)
    t.match(
      await refusal(remove(fixture, A, { body: { preconditions } })),
      { code: 409 },
      JSON.stringify(preconditions),
    )
  t.equal(await fixture.isStored(A), true)
  const { uid, resourceVersion } = a.metadata!
  t.equal((await remove(fixture, A, { body: { preconditions: { uid, resourceVersion } } })).status, 200)
})

t.test('a dry run deletes nothing and is refused where a deletion would be', async (t) => {
  const { fixture } = await withA()
  t.equal((await remove(fixture, `${A}?dryRun=All`)).status, 200)
  t.equal((await remove(fixture, A, { body: { dryRun: ['All'] } })).status, 200)
  t.equal(await fixture.isStored(A), true)
  t.same(fixture.deleted, [])
  t.match(await refusal(remove(fixture, `${CONFIGMAPS}/b?dryRun=All`)), { code: 404 })
  t.match(await refusal(remove(fixture, `${A}?dryRun=Some`)), { code: 422, details: { causes: [{ field: 'dryRun' }] } })
})

t.test('finalizers hold an object; the answer is 200 with the object, or 202 as the old option wants it', async (t) => {
  const { fixture } = await withA({ finalizers: ['example.com/hold'] })
  const held = answered(await remove(fixture))
  t.equal(held.status, 200)
  t.match(held.object, { kind: 'ConfigMap', metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
  t.equal(await fixture.isStored(A), true)
  t.equal((await remove(fixture, `${A}?orphanDependents=false`)).status, 202)
})

t.test('how dependents go is said by a finalizer', async (t) => {
  const expected = { Orphan: 'orphan', Foreground: 'foregroundDeletion' }
  for (const [policy, finalizer] of Object.entries(expected)) {
    const { fixture } = await withA()
    const { object } = answered(await remove(fixture, `${A}?propagationPolicy=${policy}`))
    t.same(object.metadata?.finalizers, [finalizer])
  }
  const { fixture } = await withA()
  t.match(await refusal(remove(fixture, `${A}?propagationPolicy=Sometimes`)), { code: 422 })
  t.match(await refusal(remove(fixture, `${A}?propagationPolicy=Orphan&orphanDependents=true`)), { code: 422 })
  await remove(fixture, `${A}?propagationPolicy=Background`)
  t.equal(await fixture.isStored(A), false)
})

t.test('a pod on a node is told to end, at once when its grace is 0', async (t) => {
  const fixture = new EndpointFixture()
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] }
  await fixture.create(PODS, { metadata: { name: 'p' }, spec })
  const { status, object } = answered(await remove(fixture, `${PODS}/p?gracePeriodSeconds=5`))
  t.equal(status, 200)
  t.match(object.metadata, { deletionTimestamp: '2026-01-01T00:00:05Z', deletionGracePeriodSeconds: 5 })
  await remove(fixture, `${PODS}/p?gracePeriodSeconds=0`)
  t.equal(await fixture.isStored(`${PODS}/p`), false)
})

t.test('options come in the three forms of bodies, and what is none is refused', async (t) => {
  const options = { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] }
  const forms: SentRequest[] = [
    { body: options },
    { body: 'dryRun: [All]', contentType: 'application/yaml' },
    { body: encodeBuiltin(options), contentType: 'application/vnd.kubernetes.protobuf' },
  ]
  const { fixture } = await withA()
  for (const sent of forms) t.equal((await remove(fixture, A, sent)).status, 200, sent.contentType ?? 'json')
  t.equal(await fixture.isStored(A), true)
  const wrong: [SentRequest, number][] = [
    [{ body: '{' }, 400],
    [{ body: '[]' }, 400],
    [{ body: 'a: [', contentType: 'application/yaml' }, 400],
    [{ body: 'not protobuf', contentType: 'application/vnd.kubernetes.protobuf' }, 400],
    [{ body: { kind: 'Pod' } }, 400],
    [{ body: { gracePeriodSeconds: 'soon' } }, 400],
    [{ body: `{"dryRun":[${'"All",'.repeat(250_000)}"All"]}` }, 413],
    [{ body: {}, contentType: 'text/plain' }, 415],
  ]
  for (const [sent, code] of wrong)
    t.equal((await refusal(remove(fixture, A, sent))).code, code, JSON.stringify(sent).slice(0, 60))
  t.equal((await remove(fixture, A, { body: 'null' })).status, 200, 'null is no options')
})

t.test('admission may refuse, and sees the object that would go', async (t) => {
  const seen: unknown[] = []
  const fixture = await withThree({
    validate: ({ operation, oldObject, object, name, options }) => {
      if (operation !== 'DELETE') return
      seen.push([name, oldObject?.metadata?.name, object, options])
      if (name === 'b') throw newForbidden({ group: '', resource: 'configmaps' }, name, 'it stays')
    },
  })
  await remove(fixture, `${A}?gracePeriodSeconds=3`)
  t.same(seen, [['a', 'a', undefined, { gracePeriodSeconds: 3 }]])
  t.match(await refusal(remove(fixture, `${CONFIGMAPS}/b`)), { code: 403 })
  t.same(await left(fixture), ['b', 'c'])
})

t.test('objects of the system are not deleted', async (t) => {
  const fixture = new EndpointFixture()
  t.match(await refusal(remove(fixture, '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical')), {
    code: 403,
  })
})

t.test('an object that cannot be read goes only by who says so and may', async (t) => {
  const { fixture } = await withA()
  const unsafe = `${A}?ignoreStoreReadErrorWithClusterBreakingPotential=true`
  const { kv } = await fixture.memory.get('/registry/configmaps/default/a')
  await fixture.memory.optimisticPut(kv!.key, Buffer.from('broken'), kv!.modRevision)
  t.match(await refusal(remove(fixture)), { code: 500 })
  fixture.forbiddenVerbs.add('unsafe-delete-ignore-read-errors')
  t.match(await refusal(remove(fixture, unsafe)), { code: 403 })
  fixture.forbiddenVerbs.clear()
  t.equal((await remove(fixture, `${unsafe}&dryRun=All`)).status, 200)
  t.same(await left(fixture), ['a'])
  const worker = fixture.worker('DELETE', unsafe)
  const answer = worker.withAnnotations(await deleteObject(worker))
  t.equal(answer.status, 200)
  t.same(answer.auditAnnotations, { 'apiserver.k8s.io/unsafe-delete-ignore-read-error': '' })
  t.same(await left(fixture), [])
})

t.test('the option for unreadable objects means nothing for one that can be read', async (t) => {
  const { fixture } = await withA({ finalizers: ['example.com/hold'] })
  fixture.forbiddenVerbs.add('unsafe-delete-ignore-read-errors')
  await remove(fixture, `${A}?ignoreStoreReadErrorWithClusterBreakingPotential=true`)
  t.equal(await fixture.isStored(A), true, 'its finalizers still hold it')
})

t.test('a collection goes as far as the selectors say; the answer is the list of what was there', async (t) => {
  const fixture = await withThree()
  const { status, object } = answered(await removeAll(fixture, '?labelSelector=odd%3Dtrue', 2))
  t.equal(status, 200)
  t.equal(object.kind, 'ConfigMapList')
  t.same(
    (object['items'] as KubeObject[]).map(({ metadata }) => metadata?.name),
    ['a', 'c'],
  )
  t.same(await left(fixture), ['b'])
})

t.test('a dry run of a collection leaves it; a limit takes so many', async (t) => {
  const fixture = await withThree()
  await removeAll(fixture, '?dryRun=All')
  t.same(await left(fixture), ['a', 'b', 'c'])
  const { object } = answered(await removeAll(fixture, '?limit=2'))
  t.match(object.metadata, { continue: /./ })
  t.same(await left(fixture), ['c'])
})

t.test('what is gone in the meantime counts as deleted', async (t) => {
  const fixture = await withThree()
  let once = true
  fixture.kv.interfere = async (call) => {
    if (call !== 'get' || !once) return
    once = false
    const { kv } = await fixture.memory.get('/registry/configmaps/default/a')
    await fixture.memory.optimisticDelete(kv!.key, kv!.modRevision)
  }
  t.equal((await removeAll(fixture)).status, 200)
  t.same(await left(fixture), [])
})

t.test('a refusal in a collection is told after every deletion has ended', async (t) => {
  const fixture = await withThree({
    // The request names no object, so admission tells them apart by what is stored.
    validate: ({ operation, name, oldObject }) => {
      if (operation === 'DELETE' && name === '' && oldObject?.metadata?.name === 'a')
        throw newForbidden({ group: '', resource: 'configmaps' }, name, 'no')
    },
  })
  t.match(await refusal(removeAll(fixture, '', 2)), { code: 403 })
  const calls = fixture.kv.calls.length
  t.same(await left(fixture), ['a'], 'the other worker went on, as in Kubernetes')
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(fixture.kv.calls.length, calls, 'nothing is under way behind the answer')
})

t.test('a collection whose client has gone is not deleted further', async (t) => {
  const fixture = await withThree()
  const signal = new Cancellation()
  fixture.kv.interfere = (call) => void (call === 'delete' && signal.abort(new Error('gone')))
  await t.rejects(removeAll(fixture, '', 1, { signal }), { message: /gone|cancelled/ })
  t.same(await left(fixture), ['b', 'c'])
})

import t from 'tap'
import type { ResourceDefinition } from '#keelson/api/resource-definition.js'
import { isStatusError } from '#keelson/api/status.js'
import { EndpointFixture } from '../../support/endpoint-fixture.js'

const path = (apiGroup: string, apiVersion: string, resource: string, subresource = '') => ({
  apiGroup,
  apiVersion,
  resource,
  subresource,
})
const PODS = path('', 'v1', 'pods')
const WIDGETS = path('example.com', 'v1', 'widgets')
const DEFINITION: ResourceDefinition = {
  group: 'example.com',
  resource: 'widgets',
  kind: 'Widget',
  singular: 'widget',
  shortNames: [],
  categories: [],
  namespaced: true,
  versions: [{ name: 'v1', served: true }],
  storageVersion: 'v1',
  listKind: 'WidgetList',
  uid: 'u',
  revision: 1,
  memoryForm: '',
  terminating: false,
}

function withWidgets(): EndpointFixture {
  const fixture = new EndpointFixture()
  fixture.definitions.set('widgets.example.com', {
    metadata: { uid: 'u' },
    spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object' } } }] },
  })
  fixture.scheme.apply({ type: 'set', definition: DEFINITION })
  return fixture
}

function code(run: () => unknown): number {
  try {
    run()
  } catch (error) {
    if (isStatusError(error)) return error.code
    throw error
  }
  return 0
}

t.test('an endpoint is made once', async (t) => {
  const { endpoints } = new EndpointFixture()
  t.equal(endpoints.find(PODS), endpoints.find({ ...PODS }))
  t.not(endpoints.find(PODS), endpoints.find({ ...PODS, subresource: 'status' }))
})

t.test('what is not served is not found', async (t) => {
  const { endpoints } = new EndpointFixture()
  for (const missing of [
    path('', 'v1', 'widgets'),
    path('', 'v2', 'pods'),
    path('', 'v1', 'pods', 'nonsense'),
    path('', 'v1', 'pods', 'constructor'),
    path('authentication.k8s.io', 'v1', 'tokenreviews', 'status'),
  ])
    t.equal(
      code(() => endpoints.find(missing)),
      404,
      JSON.stringify(missing),
    )
})

t.test('the versions and subresources of a resource share one storage', async (t) => {
  const { endpoints } = new EndpointFixture()
  const storageOf = (version: string, subresource = '') =>
    endpoints.find(path('autoscaling', version, 'horizontalpodautoscalers', subresource)).store.storage
  t.equal(storageOf('v1'), storageOf('v2'))
  t.equal(storageOf('v1', 'status'), storageOf('v2'))
})

t.test('a subresource speaks its own kind; only other versions are converted', async (t) => {
  const { endpoints } = new EndpointFixture()
  t.match(endpoints.find(path('apps', 'v1', 'deployments', 'scale')).kind, { group: 'autoscaling', kind: 'Scale' })
  t.match(endpoints.find(path('', 'v1', 'pods', 'status')).kind, { group: '', kind: 'Pod' })
  t.equal(endpoints.find(path('autoscaling', 'v2', 'horizontalpodautoscalers')).conversion, undefined)
  t.ok(endpoints.find(path('autoscaling', 'v1', 'horizontalpodautoscalers')).conversion)
})

t.test('what is answered and never stored has a handler and no store', async (t) => {
  const { endpoints } = new EndpointFixture()
  const review = endpoints.find(path('authorization.k8s.io', 'v1', 'subjectaccessreviews'))
  t.ok(review.handler?.create)
  t.equal(
    code(() => review.store),
    405,
  )
})

t.test('a resource that has changed gets new endpoints and a new storage', async (t) => {
  const { endpoints } = withWidgets()
  const before = endpoints.find(WIDGETS)
  await endpoints.forget(DEFINITION)
  const after = endpoints.find(WIDGETS)
  t.not(after, before)
  t.not(after.store.storage, before.store.storage)
  t.throws(() => before.store.storage.readinessCheck(), { code: 'not-ready' }, 'the old one is closed')
  t.doesNotThrow(() => after.store.storage.readinessCheck())
})

t.test('the old storage stays open until the requests that use it are done', async (t) => {
  const { endpoints } = withWidgets()
  const endpoint = endpoints.find(WIDGETS)
  let done!: () => void
  const request = endpoints.underWay(endpoint, new Promise<void>((resolve) => (done = resolve)), () => undefined)
  const failed = endpoints.underWay(endpoint, Promise.reject(new Error('it failed')), () => undefined)
  await t.rejects(failed, { message: 'it failed' })
  const forgotten = endpoints.forget(DEFINITION)
  await new Promise((resolve) => setImmediate(resolve))
  endpoint.store.storage.readinessCheck()
  done()
  await request
  await forgotten
  t.throws(() => endpoint.store.storage.readinessCheck(), { code: 'not-ready' })
})

t.test('a resource that is gone is not found', async (t) => {
  const fixture = withWidgets()
  fixture.endpoints.find(WIDGETS)
  fixture.scheme.apply({ type: 'remove', groupResource: DEFINITION })
  await fixture.endpoints.forget(DEFINITION)
  t.equal(
    code(() => fixture.endpoints.find(WIDGETS)),
    404,
  )
})

t.test('closing closes every storage', async (t) => {
  const { endpoints } = withWidgets()
  const storages = [PODS, WIDGETS].map((at) => endpoints.find(at).store.storage)
  await endpoints.close()
  for (const storage of storages) t.throws(() => storage.readinessCheck(), { code: 'not-ready' })
})

t.test('events end by themselves, and a service is told of what is deleted', async (t) => {
  const fixture = new EndpointFixture()
  const event = { metadata: { name: 'e' }, involvedObject: { namespace: 'default' } }
  await fixture.create('/api/v1/namespaces/default/events', event)
  t.not((await fixture.memory.get('/registry/events/default/e')).kv?.lease, 0n)
  await fixture.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' } })
  t.equal((await fixture.memory.get('/registry/configmaps/default/c')).kv?.lease, 0n)
})

t.test(
  'a request that waits too long is given up, so that a change of the definition does not wait for it',
  async (t) => {
    const { endpoints } = withWidgets()
    const endpoint = endpoints.find(WIDGETS)
    // The server's own timers do not keep a process alive.
    const alive = setInterval(() => undefined, 1000)
    t.teardown(() => clearInterval(alive))
    let giveUp = (): void => undefined
    const answer = new Promise<void>((resolve) => {
      giveUp = resolve
    })
    let given = false
    const request = endpoints.underWay(endpoint, answer, () => {
      given = true
      giveUp()
    })
    await endpoints.forget(endpoint.info)
    await request
    t.ok(given)
  },
)

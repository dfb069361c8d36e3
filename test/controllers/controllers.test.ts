import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { ApiClient } from '../support/api-client.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const CONTROLLERS = ['--controllers=*', '--authorization-mode=AlwaysAllow']

async function get(server: KeelsonProcess, path: string): Promise<KubeObject | undefined> {
  const { status, json } = await server.request('GET', path)
  return status === 200 ? (json as KubeObject) : undefined
}

const appears = (server: KeelsonProcess, path: string): Promise<void> =>
  until(async () => (await get(server, path)) !== undefined, { what: `${path} to appear` })
const goes = (server: KeelsonProcess, path: string): Promise<void> =>
  until(async () => (await server.request('GET', path)).status === 404, { what: `${path} to go` })

async function createNamespace(server: KeelsonProcess, name: string): Promise<void> {
  const { status } = await server.request('POST', '/api/v1/namespaces', { metadata: { name } })
  if (status !== 201) throw new Error(`status ${status}`)
}

t.test('controllers in the server', async (t) => {
  const server = await KeelsonProcess.start(CONTROLLERS)
  t.teardown(() => server.close())

  await t.test('every namespace has a default service account, again after it was deleted', async (t) => {
    const path = '/api/v1/namespaces/kube-system/serviceaccounts/default'
    await appears(server, path)
    const before = (await get(server, path))?.metadata?.uid
    t.equal((await server.request('DELETE', path)).status, 200)
    await until(async () => ![undefined, before].includes((await get(server, path))?.metadata?.uid), {
      what: 'another default account',
    })
    await createNamespace(server, 'accounts')
    await appears(server, '/api/v1/namespaces/accounts/serviceaccounts/default')
  })

  await t.test('health and metrics tell of them', async (t) => {
    const health = await server.request('GET', '/healthz/controllers')
    t.equal(health.text, 'ok')
    t.notMatch((await server.request('GET', '/healthz?verbose')).text, /controllers/, 'the server is well without them')
    const { text } = await server.request('GET', '/metrics')
    t.match(text, 'leader_election_master_status{name="kube-controller-manager"} 1')
    t.match(text, /workqueue_adds_total\{name="serviceaccount_controller"\} [1-9]/)
  })

  await t.test('the lease says who runs the controllers', async (t) => {
    const lease = await get(
      server,
      '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager',
    )
    const { holderIdentity, leaseDurationSeconds } = (lease?.['spec'] ?? {}) as Record<string, unknown>
    t.same([holderIdentity, leaseDurationSeconds], ['keelson-embedded', 15])
  })

  await t.test('a deleted namespace goes with everything in it', async (t) => {
    await createNamespace(server, 'full')
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        server.request('POST', '/api/v1/namespaces/full/configmaps', { metadata: { name: `c${i}` } }),
      ),
    )
    const kept = await server.request('POST', '/api/v1/namespaces/accounts/configmaps', { metadata: { name: 'kept' } })
    t.equal(kept.status, 201)
    t.equal((await server.request('DELETE', '/api/v1/namespaces/full')).status, 200)
    await goes(server, '/api/v1/namespaces/full')
    const left = (await server.request('GET', '/api/v1/namespaces/full/configmaps')).json as { items: unknown[] }
    t.equal(left.items.length, 0)
    t.ok(await get(server, '/api/v1/namespaces/accounts/configmaps/kept'))
  })

  await t.test('a namespace whose content has finalizers says so, and goes when they do', async (t) => {
    await createNamespace(server, 'held')
    const path = '/api/v1/namespaces/held/configmaps'
    await server.request('POST', path, { metadata: { name: 'held', finalizers: ['example.com/hold'] } })
    await server.request('DELETE', '/api/v1/namespaces/held')
    type Status = { conditions?: { type: string; status: string; reason: string; message: string }[] }
    const conditions = async (): Promise<Status['conditions']> =>
      ((await get(server, '/api/v1/namespaces/held'))?.['status'] as Status | undefined)?.conditions
    await until(async () => (await conditions()) !== undefined, { what: 'conditions' })
    const told = (await conditions())?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)
    t.same(told, [
      'NamespaceDeletionDiscoveryFailure=False ResourcesDiscovered',
      'NamespaceDeletionGroupVersionParsingFailure=False ParsedGroupVersions',
      'NamespaceDeletionContentFailure=False ContentDeleted',
      'NamespaceContentRemaining=True SomeResourcesRemain',
      'NamespaceFinalizersRemaining=True SomeFinalizersRemain',
    ])
    t.match((await conditions())?.[3]?.message, 'Some resources are remaining: configmaps. has 1 resource instances')
    const type = { 'content-type': 'application/merge-patch+json' }
    await server.request('PATCH', `${path}/held`, { metadata: { finalizers: null } }, type)
    await goes(server, '/api/v1/namespaces/held')
  })
})

t.test('the first minute: a pod, what it owns and a namespace, made and deleted with the defaults', async (t) => {
  const server = await KeelsonProcess.start(['--controllers=*'], undefined, { tls: false })
  t.teardown(() => server.close())
  const api = new ApiClient(server)
  await api.create('/api/v1/namespaces', { metadata: { name: 'first' } })
  const path = '/api/v1/namespaces/first'
  const pod = await api.create<KubeObject & { spec?: Record<string, unknown> }>(`${path}/pods`, {
    metadata: { name: 'owner' },
    spec: { containers: [{ name: 'c', image: 'busybox' }] },
  })
  t.equal(pod.spec?.['serviceAccountName'], 'default')
  await api.appears(`${path}/serviceaccounts/default`)
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'owner', uid: pod.metadata?.uid }]
  await api.create(`${path}/configmaps`, { metadata: { name: 'owned', ownerReferences } })
  t.equal(await api.delete(`${path}/pods/owner`), 200)
  await api.goes(`${path}/configmaps/owned`)
  t.equal(await api.delete(path), 200)
  await api.goes(path)
})

t.test('what comes late into a namespace goes as it did, unless there is a new namespace of the name', async (t) => {
  // Without the plugin everything is let through, as a request is that was admitted when the namespace was alive.
  const flags = ['--controllers=namespace', '--disable-admission-plugins=NamespaceLifecycle']
  const server = await KeelsonProcess.start(flags)
  t.teardown(() => server.close())
  const api = new ApiClient(server)
  await api.create('/api/v1/namespaces/never/configmaps', { metadata: { name: 'kept' } })
  for (const name of ['passed', 'again']) {
    await api.create('/api/v1/namespaces', { metadata: { name } })
    await api.delete(`/api/v1/namespaces/${name}`)
    await api.goes(`/api/v1/namespaces/${name}`)
    await api.create(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'late' } })
  }
  await api.create('/api/v1/namespaces', { metadata: { name: 'again' } })
  await api.goes('/api/v1/namespaces/passed/configmaps/late')
  t.ok(await api.get('/api/v1/namespaces/again/configmaps/late'), 'a new namespace has it')
  t.ok(await api.get('/api/v1/namespaces/never/configmaps/kept'), 'a namespace that never was is nobody’s affair')
})

t.test('pods go before everything else of a namespace', async (t) => {
  const server = await KeelsonProcess.start(['--controllers=namespace,serviceaccount'])
  t.teardown(() => server.close())
  const api = new ApiClient(server)
  const path = '/api/v1/namespaces/ordered'
  await api.create('/api/v1/namespaces', { metadata: { name: 'ordered' } })
  await api.create(`${path}/pods`, {
    metadata: { name: 'held', finalizers: ['example.com/hold'] },
    spec: { containers: [{ name: 'c', image: 'busybox' }] },
  })
  await api.create(`${path}/configmaps`, { metadata: { name: 'later' } })
  await api.delete(path)
  await api.when(
    path,
    'conditions',
    (found) => ((found['status'] as { conditions?: object[] }).conditions ?? []).length === 5,
  )
  t.ok((await api.get(`${path}/pods/held`))?.metadata?.deletionTimestamp)
  t.equal((await api.get(`${path}/configmaps/later`))?.metadata?.deletionTimestamp, undefined)
  await api.merge(`${path}/pods/held`, { metadata: { finalizers: null } })
  await api.goes(path)
})

t.test('under RBAC each controller has the rights of its service account', async (t) => {
  const server = await KeelsonProcess.start(['--controllers=*', '--token-auth-file=test/controllers/tokens.csv'])
  t.teardown(() => server.close())
  const headers = { authorization: 'Bearer admin' }
  const path = '/api/v1/namespaces/default/serviceaccounts/default'
  await until(async () => (await server.request('GET', path, undefined, headers)).status === 200, {
    what: 'the default account',
  })
  await server.request('POST', '/api/v1/namespaces', { metadata: { name: 'ends' } }, headers)
  await server.request('DELETE', '/api/v1/namespaces/ends', undefined, headers)
  await until(async () => (await server.request('GET', '/api/v1/namespaces/ends', undefined, headers)).status === 404, {
    what: 'the namespace to go',
  })
})

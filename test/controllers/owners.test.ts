import t from 'tap'
import type { KubeObject, OwnerReference } from '#keelson/api/object.js'
import { ApiClient } from '../support/api-client.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const server = await KeelsonProcess.start(['--controllers=garbagecollector,namespace'])
t.teardown(() => server.close())
const api = new ApiClient(server)
const MAPS = '/api/v1/namespaces/default/configmaps'
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'

const reference = ({ metadata }: KubeObject, kind = 'ConfigMap', apiVersion = 'v1', block = false): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata?.name ?? '',
  uid: metadata?.uid ?? '',
  ...(block ? { blockOwnerDeletion: true } : {}),
})
const map = (name: string, ownerReferences: OwnerReference[] = [], path = MAPS): Promise<KubeObject> =>
  api.create(path, { metadata: { name, ownerReferences } })
/** Something else is collected, so that the collector has had its turn. */
async function turn(name: string): Promise<void> {
  const owner = await map(`${name}-owner`)
  await map(`${name}-owned`, [reference(owner)])
  await api.delete(`${MAPS}/${name}-owner`)
  await api.goes(`${MAPS}/${name}-owned`)
}

await api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})
const widget = (name: string, ownerReferences: OwnerReference[] = []): Promise<KubeObject> =>
  api.create(WIDGETS, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, ownerReferences } })
await until(async () => (await server.request('GET', WIDGETS)).status === 200, { what: 'widgets to be served' })

t.test('custom resources own and are owned', async () => {
  const top = await widget('top')
  const middle = await map('middle', [reference(top, 'Widget', 'example.com/v1')])
  await widget('bottom', [reference(middle)])
  await api.delete(`${WIDGETS}/top`)
  await api.goes(`${MAPS}/middle`)
  await api.goes(`${WIDGETS}/bottom`)
})

t.test('a foreground deletion goes through several levels, from below', async (t) => {
  const top = await map('f-top')
  const middle = await map('f-middle', [reference(top, 'ConfigMap', 'v1', true)])
  await api.create(WIDGETS, {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: {
      name: 'f-bottom',
      finalizers: ['example.com/hold'],
      ownerReferences: [reference(middle, 'ConfigMap', 'v1', true)],
    },
  })
  await api.delete(`${MAPS}/f-top`, { propagationPolicy: 'Foreground' })
  await api.when(
    `${WIDGETS}/f-bottom`,
    'the deletion to come down',
    ({ metadata }) => metadata?.deletionTimestamp !== undefined,
  )
  for (const name of ['f-top', 'f-middle']) t.ok(await api.get(`${MAPS}/${name}`), `${name} waits`)
  await api.merge(`${WIDGETS}/f-bottom`, { metadata: { finalizers: null } })
  for (const path of [`${WIDGETS}/f-bottom`, `${MAPS}/f-middle`, `${MAPS}/f-top`]) await api.goes(path)
})

t.test(
  'a dependent that does not block is not waited for, and one with another owner stays without the reference',
  async (t) => {
    const [front, other] = [await map('front'), await map('other')]
    await map('shared', [reference(front, 'ConfigMap', 'v1', true), reference(other)])
    await api.delete(`${MAPS}/front`, { propagationPolicy: 'Foreground' })
    await api.goes(`${MAPS}/front`)
    const { metadata } = await api.when(
      `${MAPS}/shared`,
      'one reference',
      (found) => found.metadata?.ownerReferences?.length === 1,
    )
    t.equal(metadata?.ownerReferences?.[0]?.name, 'other')
    t.equal(metadata?.deletionTimestamp, undefined)
  },
)

t.test('three that own each other in a circle all go, in the foreground and in the background', async () => {
  for (const propagationPolicy of ['Foreground', 'Background']) {
    const name = (i: number): string => `${propagationPolicy.toLowerCase()}-${i}`
    const first = await map(name(0))
    const second = await map(name(1), [reference(first, 'ConfigMap', 'v1', true)])
    const third = await map(name(2), [reference(second, 'ConfigMap', 'v1', true)])
    await api.merge(`${MAPS}/${name(0)}`, {
      metadata: { ownerReferences: [reference(third, 'ConfigMap', 'v1', true)] },
    })
    await api.delete(`${MAPS}/${name(0)}`, { propagationPolicy })
    for (const i of [0, 1, 2]) await api.goes(`${MAPS}/${name(i)}`)
  }
})

t.test('an owner in another namespace is none: the dependent goes, and an event says why', async () => {
  await api.create('/api/v1/namespaces', { metadata: { name: 'elsewhere' } })
  const owner = await map('far', [], '/api/v1/namespaces/elsewhere/configmaps')
  await map('astray', [reference(owner)])
  await api.goes(`${MAPS}/astray`)
  await until(
    async () => {
      const events = await api.list<KubeObject & { reason?: string; involvedObject?: { name?: string } }>(
        '/api/v1/namespaces/default/events',
      )
      return events.some(
        ({ reason, involvedObject }) => reason === 'OwnerRefInvalidNamespace' && involvedObject?.name === 'astray',
      )
    },
    { what: 'the event' },
  )
})

t.test('what lies in no namespace and names an owner in one is never collected', async (t) => {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'none' }]
  await api.create('/api/v1/nodes', { metadata: { name: 'unresolved', ownerReferences } })
  await turn('unresolved')
  t.equal((await api.get('/api/v1/nodes/unresolved'))?.metadata?.deletionTimestamp, undefined)
})

t.test('an owner of no namespace may be named from any', async (t) => {
  const node = await api.create('/api/v1/nodes', { metadata: { name: 'owner' } })
  await map('of-node', [reference(node, 'Node')])
  await turn('node')
  t.ok(await api.get(`${MAPS}/of-node`))
  await api.delete('/api/v1/nodes/owner')
  await api.goes(`${MAPS}/of-node`)
})

t.test('an owner that comes again under its name has another uid: its dependents go', async () => {
  const owner = await map('again')
  await map('of-the-first', [reference(owner)])
  await api.delete(`${MAPS}/again`, { propagationPolicy: 'Background' })
  await map('again')
  await api.goes(`${MAPS}/of-the-first`)
})

t.test('a namespace goes with its custom objects', async () => {
  await api.create('/api/v1/namespaces', { metadata: { name: 'custom' } })
  const path = '/apis/example.com/v1/namespaces/custom/widgets'
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      api.create(path, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: `w${i}` } }),
    ),
  )
  await api.delete('/api/v1/namespaces/custom')
  await api.goes('/api/v1/namespaces/custom')
  await until(async () => (await api.list(path)).length === 0, { what: 'no widget is left' })
})

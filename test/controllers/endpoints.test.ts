import t from 'tap'
import type { Endpoints } from '#keelson/api/generated/kinds/core.v1.js'
import type { EndpointSlice } from '#keelson/api/generated/kinds/discovery.v1.js'
import type { KubeObject } from '#keelson/api/object.js'
import { ApiClient } from '../support/api-client.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const server = await KeelsonProcess.start([
  '--controllers=endpoint,endpointslice,endpointslicemirroring,garbagecollector',
  '--disable-admission-plugins=ServiceAccount',
])
t.teardown(() => server.close())
const api = new ApiClient(server)
const CORE = '/api/v1/namespaces/default'
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'

const slicesOf = (service: string): Promise<EndpointSlice[]> =>
  api.list(`${SLICES}?labelSelector=kubernetes.io%2Fservice-name%3D${service}`)
const service = (name: string, spec: object, metadata: object = {}): Promise<KubeObject> =>
  api.create(`${CORE}/services`, { metadata: { name, ...metadata }, spec })
const endpointsAre = (name: string, what: string, isSo: (endpoints: Endpoints) => boolean): Promise<KubeObject> =>
  api.when(`${CORE}/endpoints/${name}`, what, (found) => isSo(found as Endpoints))

async function pod(name: string, app: string, ip: string, ready = true, more: object = {}): Promise<void> {
  const ports = [{ name: 'web', containerPort: 8080 }]
  await api.create(`${CORE}/pods`, {
    metadata: { name, labels: { app } },
    spec: { nodeName: 'node', containers: [{ name: 'c', image: 'i', ports }], ...more },
  })
  await status(name, ip, ready)
}

async function status(name: string, ip: string, ready: boolean): Promise<void> {
  const lastTransitionTime = '2026-01-02T03:04:05Z'
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }]
  await api.merge(`${CORE}/pods/${name}/status`, {
    status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions },
  })
}

const ips = (slices: readonly EndpointSlice[]): string[] =>
  slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])).sort()

await api.create('/api/v1/nodes', { metadata: { name: 'node', labels: { 'topology.kubernetes.io/zone': 'z1' } } })

t.test('a service with a selector has the addresses of its pods, by port and by readiness', async (t) => {
  await service(
    'web',
    { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'web' }] },
    {
      labels: { team: 'a' },
    },
  )
  await endpointsAre('web', 'empty endpoints', () => true)
  await pod('web-1', 'web', '10.1.0.1')
  await pod('web-2', 'web', '10.1.0.2', false)
  await pod('other', 'other', '10.1.0.3')
  const found = (await endpointsAre(
    'web',
    'both pods',
    ({ subsets = [] }) => subsets[0]?.addresses?.length === 1 && subsets[0]?.notReadyAddresses?.length === 1,
  )) as Endpoints
  t.same(found.subsets?.[0]?.ports, [{ name: 'http', port: 8080, protocol: 'TCP' }])
  t.match(found.subsets?.[0]?.addresses?.[0], {
    ip: '10.1.0.1',
    nodeName: 'node',
    targetRef: { kind: 'Pod', name: 'web-1' },
  })
  t.equal(found.subsets?.[0]?.notReadyAddresses?.[0]?.ip, '10.1.0.2')
  t.match(found.metadata?.labels, { team: 'a', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' })

  await until(async () => ips(await slicesOf('web')).length === 2, { what: 'both pods in slices' })
  const [slice, ...others] = await slicesOf('web')
  t.equal(others.length, 0)
  t.equal(slice?.addressType, 'IPv4')
  t.match(slice?.ports, [{ name: 'http', port: 8080, protocol: 'TCP' }])
  t.match(slice?.metadata?.labels, {
    team: 'a',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  })
  t.match(slice?.metadata?.ownerReferences, [{ kind: 'Service', name: 'web', controller: true }])
  const first = slice?.endpoints?.find(({ addresses }) => addresses?.[0] === '10.1.0.1')
  t.match(first, { conditions: { ready: true, serving: true, terminating: false }, nodeName: 'node', zone: 'z1' })

  await status('web-2', '10.1.0.2', true)
  await endpointsAre('web', 'the second to be ready', ({ subsets = [] }) => subsets[0]?.addresses?.length === 2)
  await api.delete(`${CORE}/pods/web-1?gracePeriodSeconds=0`)
  await endpointsAre('web', 'the first to leave', ({ subsets = [] }) => subsets[0]?.addresses?.length === 1)
  await until(async () => ips(await slicesOf('web')).join() === '10.1.0.2', { what: 'the first to leave the slice' })
  await api.merge(`${CORE}/pods/web-2`, { metadata: { labels: { app: 'gone' } } })
  await endpointsAre('web', 'nobody', ({ subsets = [] }) => subsets.length === 0)
  await until(async () => ips(await slicesOf('web')).length === 0, { what: 'an empty slice' })
  t.equal((await slicesOf('web')).length, 1, 'one slice stays, empty')
})

t.test('what somebody deletes or changes is put right, and goes with the service', async () => {
  await service('kept', { selector: { app: 'kept' }, ports: [{ port: 80 }] })
  await pod('kept-1', 'kept', '10.1.1.1')
  await endpointsAre('kept', 'the pod', ({ subsets = [] }) => subsets.length === 1)
  await until(async () => ips(await slicesOf('kept')).length === 1, { what: 'the pod in a slice' })
  await api.delete(`${CORE}/endpoints/kept`)
  await endpointsAre('kept', 'the endpoints to come back', ({ subsets = [] }) => subsets.length === 1)
  const [slice] = await slicesOf('kept')
  await api.delete(`${SLICES}/${slice?.metadata?.name}`)
  await until(async () => ips(await slicesOf('kept')).length === 1, { what: 'the slice to come back' })
  await api.delete(`${CORE}/services/kept`)
  await api.goes(`${CORE}/endpoints/kept`)
  await until(async () => (await slicesOf('kept')).length === 0, { what: 'the slices to go' })
})

t.test('several ports, several target ports: one slice for each set of ports', async (t) => {
  const ports = [
    { name: 'a', port: 80, targetPort: 'web' },
    { name: 'b', port: 81, targetPort: 9000 },
  ]
  await service('ports', { selector: { app: 'ports' }, ports })
  await pod('ports-1', 'ports', '10.1.2.1')
  await api.create(`${CORE}/pods`, {
    metadata: { name: 'ports-2', labels: { app: 'ports' } },
    spec: { nodeName: 'node', containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 8081 }] }] },
  })
  await status('ports-2', '10.1.2.2', true)
  await until(async () => ips(await slicesOf('ports')).length === 2, { what: 'both pods' })
  const slices = await slicesOf('ports')
  t.same(slices.map(({ ports: own }) => own?.map(({ port }) => port).sort()).sort(), [
    [8080, 9000],
    [8081, 9000],
  ])
  const { subsets = [] } = (await api.get<Endpoints & KubeObject>(`${CORE}/endpoints/ports`))!
  t.equal(subsets.flatMap(({ addresses = [] }) => addresses).length, 4, 'the shared port has both addresses')
})

t.test('terminating pods serve on in slices and leave endpoints; pods that ended are in neither', async (t) => {
  await service('ending', { selector: { app: 'ending' }, ports: [{ port: 80 }] })
  await pod('ending-1', 'ending', '10.1.3.1')
  await until(async () => ips(await slicesOf('ending')).length === 1, { what: 'the pod' })
  await api.delete(`${CORE}/pods/ending-1`)
  await until(async () => (await slicesOf('ending'))[0]?.endpoints?.[0]?.conditions?.terminating === true, {
    what: 'the endpoint to be terminating',
  })
  t.match((await slicesOf('ending'))[0]?.endpoints?.[0]?.conditions, { ready: false, serving: true, terminating: true })
  await endpointsAre('ending', 'no address', ({ subsets = [] }) => subsets.length === 0)
  await api.merge(`${CORE}/pods/ending-1/status`, { status: { phase: 'Succeeded' } })
  await until(async () => ips(await slicesOf('ending')).length === 0, { what: 'the pod to leave' })
})

t.test('a headless service tells hostnames, and addresses that are not ready when it wants them', async (t) => {
  await service('heads', { clusterIP: 'None', selector: { app: 'heads' }, publishNotReadyAddresses: true })
  await pod('heads-0', 'heads', '10.1.4.1', false, { hostname: 'zero', subdomain: 'heads' })
  const { subsets, metadata } = (await endpointsAre(
    'heads',
    'the pod',
    ({ subsets: all = [] }) => all[0]?.addresses?.length === 1,
  )) as Endpoints
  t.equal(subsets?.[0]?.addresses?.[0]?.hostname, 'zero')
  t.equal(subsets?.[0]?.ports, undefined)
  t.equal(metadata?.labels?.['service.kubernetes.io/headless'], '')
  await until(async () => (await slicesOf('heads'))[0]?.endpoints?.[0]?.hostname === 'zero', { what: 'the hostname' })
  t.match((await slicesOf('heads'))[0]?.endpoints?.[0]?.conditions, { ready: true, serving: false })
})

t.test('a pod whose node is not there is in endpoints, and in slices when the node comes', async (t) => {
  await service('late', { selector: { app: 'late' }, ports: [{ port: 80 }] })
  await pod('late-1', 'late', '10.1.5.1', true, { nodeName: 'late-node' })
  await endpointsAre('late', 'the pod', ({ subsets = [] }) => subsets.length === 1)
  t.same(ips(await slicesOf('late')), [])
  await api.create('/api/v1/nodes', { metadata: { name: 'late-node' } })
  await until(async () => ips(await slicesOf('late')).length === 1, { what: 'the pod in a slice' })
})

t.test('a slice holds a hundred endpoints; trafficDistribution gives hints', async (t) => {
  await service('many', { selector: { app: 'many' }, ports: [{ port: 80 }], trafficDistribution: 'PreferClose' })
  await Promise.all(Array.from({ length: 120 }, (_, i) => pod(`many-${i}`, 'many', `10.2.0.${i + 1}`)))
  await until(async () => ips(await slicesOf('many')).length === 120, { what: 'all pods' })
  const slices = await slicesOf('many')
  t.ok(slices.every(({ endpoints }) => (endpoints?.length ?? 0) <= 100))
  t.equal(new Set(ips(slices)).size, 120, 'each pod once')
  t.same(slices[0]?.endpoints?.[0]?.hints, { forZones: [{ name: 'z1' }] })
  await api.merge(`${CORE}/services/many`, { spec: { trafficDistribution: null } })
  await until(async () => (await slicesOf('many')).every(({ endpoints }) => endpoints?.every(({ hints }) => !hints)), {
    what: 'the hints to go',
  })
})

t.test(
  'endpoints of a service without a selector are mirrored, as long as there is a service without one',
  async (t) => {
    const mirrored = (name: string): Promise<EndpointSlice[]> =>
      api.list(
        `${SLICES}?labelSelector=kubernetes.io%2Fservice-name%3D${name}%2Cendpointslice.kubernetes.io%2Fmanaged-by%3Dendpointslicemirroring-controller.k8s.io`,
      )
    await service('mirror', { ports: [{ port: 80 }] })
    await api.create(`${CORE}/endpoints`, {
      metadata: { name: 'mirror', labels: { own: 'yes' }, annotations: { note: 'kept' } },
      subsets: [{ addresses: [{ ip: '10.3.0.1' }, { ip: 'fd00::1' }], ports: [{ port: 80 }] }],
    })
    await until(async () => ips(await mirrored('mirror')).length === 2, { what: 'both addresses' })
    const slices = await mirrored('mirror')
    t.same(slices.map(({ addressType }) => addressType).sort(), ['IPv4', 'IPv6'])
    t.match(slices[0]?.metadata, { labels: { own: 'yes' }, annotations: { note: 'kept' } })
    t.match(slices[0]?.metadata?.ownerReferences, [{ kind: 'Endpoints', name: 'mirror' }])
    await api.merge(`${CORE}/endpoints/mirror`, {
      subsets: [{ addresses: [{ ip: '10.3.0.9' }], ports: [{ port: 81 }] }],
    })
    await until(async () => ips(await mirrored('mirror')).join() === '10.3.0.9', { what: 'the new address alone' })
    t.equal((await mirrored('mirror'))[0]?.ports?.[0]?.port, 81)
    await api.merge(`${CORE}/endpoints/mirror`, {
      metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    })
    await until(async () => (await mirrored('mirror')).length === 0, { what: 'the mirror to go' })
    await api.merge(`${CORE}/endpoints/mirror`, {
      metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': null } },
    })
    await until(async () => (await mirrored('mirror')).length === 1, { what: 'the mirror to come back' })
    await api.delete(`${CORE}/endpoints/mirror`)
    await until(async () => (await mirrored('mirror')).length === 0, { what: 'the mirror to go with its endpoints' })
  },
)

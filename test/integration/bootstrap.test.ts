/** What is there from the start, on both storages and with several servers; that a second start only reads. */
import t, { type Test } from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'

interface Answer {
  readonly metadata: { readonly resourceVersion: string }
  readonly items?: readonly { readonly metadata: { readonly name: string; readonly resourceVersion: string } }[]
  readonly spec?: Record<string, unknown>
  readonly status?: { readonly conditions?: readonly Record<string, unknown>[] }
  readonly subsets?: readonly { readonly addresses?: readonly { readonly ip: string }[] }[]
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[]
}

const get = async (server: KeelsonProcess, path: string): Promise<Answer> =>
  (await server.request('GET', path)).json as Answer
const namesOf = ({ items = [] }: Answer): string[] => items.map(({ metadata }) => metadata.name)

const ENDPOINTS = '/api/v1/namespaces/default/endpoints/kubernetes'
const SLICE = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes'
const SERVICE = '/api/v1/namespaces/default/services/kubernetes'
const CIDR = '/apis/networking.k8s.io/v1/servicecidrs/kubernetes'

async function checkObjects(t: Test, server: KeelsonProcess, address: string): Promise<void> {
  const namespaces = namesOf(await get(server, '/api/v1/namespaces'))
  t.same(namespaces, ['default', 'kube-node-lease', 'kube-public', 'kube-system'])
  const classes = namesOf(await get(server, '/apis/scheduling.k8s.io/v1/priorityclasses'))
  t.same(classes, ['system-cluster-critical', 'system-node-critical'])
  const deleted = await server.request('DELETE', '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical')
  t.equal(deleted.status, 403, 'nobody deletes the classes of the system')
  t.match(await get(server, SERVICE), {
    spec: {
      clusterIP: '10.77.0.1',
      ports: [{ name: 'https', port: 443, targetPort: Number(new URL(server.url).port) }],
    },
  })
  t.match(await get(server, CIDR), {
    spec: { cidrs: ['10.77.0.0/24'] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  })
  t.same(namesOf(await get(server, '/apis/networking.k8s.io/v1/ipaddresses')), ['10.77.0.1'])
  t.match((await get(server, ENDPOINTS)).subsets?.[0]?.addresses, [{ ip: address }])
  t.match((await get(server, SLICE)).endpoints, [{ addresses: [address] }])
}

/** Name and version of all that this file is about. */
async function versions(server: KeelsonProcess): Promise<string[]> {
  const paths = [
    '/api/v1/namespaces',
    '/api/v1/services',
    '/api/v1/endpoints',
    '/apis/discovery.k8s.io/v1/endpointslices',
    '/apis/scheduling.k8s.io/v1/priorityclasses',
    '/apis/networking.k8s.io/v1/servicecidrs',
    '/apis/networking.k8s.io/v1/ipaddresses',
  ]
  const lists = await Promise.all(paths.map((path) => get(server, path)))
  return lists.flatMap(({ items = [] }) => items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`))
}

t.setTimeout(900_000)

t.test('the embedded engine: everything is there, and a second start writes nothing', async (t) => {
  const flags = ['--service-cluster-ip-range=10.77.0.0/24', '--advertise-address=192.0.2.9']
  const first = await KeelsonProcess.start(flags)
  t.teardown(() => first.close())
  await checkObjects(t, first, '192.0.2.9')
  const before = await versions(first)
  await first.stop()
  // On another port the endpoints would have to change.
  const second = await KeelsonProcess.start([...flags, '--endpoint-reconciler-type=none'], first.dataDir)
  t.teardown(() => second.close())
  t.same(await versions(second), before)
})

t.test('servers on one etcd are the endpoints, as long as they are there', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const start = (address: string) =>
    KeelsonProcess.start([
      `--etcd-servers=${etcd.endpoint}`,
      '--service-cluster-ip-range=10.77.0.0/24',
      `--advertise-address=${address}`,
    ])
  const one = await start('192.0.2.1')
  t.teardown(() => one.close())
  await checkObjects(t, one, '192.0.2.1')
  const two = await start('192.0.2.2')
  t.teardown(() => two.close())
  const addresses = async (): Promise<string[]> =>
    ((await get(one, ENDPOINTS)).subsets?.[0]?.addresses ?? []).map(({ ip }) => ip).sort()
  t.same(await addresses(), ['192.0.2.1', '192.0.2.2'])
  await two.stop()
  t.same(await addresses(), ['192.0.2.1'])
  t.same(
    (await get(one, SLICE)).endpoints?.map((endpoint) => endpoint.addresses),
    [['192.0.2.1']],
  )
})

const event = (name: string) => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
  reason: 'Testing',
  type: 'Normal',
})

async function checkExpiry(t: Test, server: KeelsonProcess): Promise<void> {
  const path = '/api/v1/namespaces/default/events'
  const watch = new WatchClient(server.url, `${path}?watch=1`)
  t.equal((await server.request('POST', path, event('one'))).status, 201)
  await until(() => watch.events.some(({ type, name }) => type === 'DELETED' && name === 'one'), {
    what: 'the deletion of one',
  })
  watch.close()
  t.equal((await server.request('GET', `${path}/one`)).status, 404)
  t.same(namesOf(await get(server, path)), [])
}

t.test('events end by their lease on the embedded engine', async (t) => {
  const server = await KeelsonProcess.start(['--event-ttl=1s'])
  t.teardown(() => server.close())
  await checkExpiry(t, server)
})

t.test('events end by their lease on etcd', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const server = await KeelsonProcess.start([`--etcd-servers=${etcd.endpoint}`, '--event-ttl=1s'])
  t.teardown(() => server.close())
  await checkExpiry(t, server)
})

import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const HOW_MANY = 20

const configMap = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const pod = (name: string, container: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', ...container }] },
})

interface Quota {
  status: { used?: Record<string, string> }
}

const make = async (server: KeelsonProcess, path: string, object: object): Promise<{ status: number; json: unknown }> =>
  server.request('POST', path, object)

async function makeNamespace(
  server: KeelsonProcess,
  name: string,
  labels: Record<string, string> = {},
): Promise<string> {
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
  const { status } = await make(server, '/api/v1/namespaces', object)
  if (status !== 201) throw new Error(`namespace ${name}: ${status}`)
  return `/api/v1/namespaces/${name}`
}

async function makeQuota(server: KeelsonProcess, namespace: string, hard: Record<string, string>): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } }
  const { status } = await make(server, `${namespace}/resourcequotas`, object)
  if (status !== 201) throw new Error(`quota: ${status}`)
}

const used = async (server: KeelsonProcess, namespace: string): Promise<Record<string, string>> =>
  ((await server.request('GET', `${namespace}/resourcequotas/q`)).json as Quota).status.used ?? {}

/** All at once, spread over the servers; gives the number of each status. */
async function createMany(servers: readonly KeelsonProcess[], namespace: string): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  await Promise.all(
    Array.from({ length: 3 * HOW_MANY }, async (_, i) => {
      const { status } = await make(servers[i % servers.length]!, `${namespace}/configmaps`, configMap(`c${i}`))
      counts.set(status, (counts.get(status) ?? 0) + 1)
    }),
  )
  return counts
}

t.test('embedded: defaults, limits, quotas and pod security', async (t) => {
  const server = await KeelsonProcess.start([
    '--controllers=serviceaccount',
    '--enable-admission-plugins=AlwaysPullImages',
  ])
  t.teardown(() => server.close())

  await t.test('LimitRanger fills and refuses; other plugins shape the same pod', async (t) => {
    const namespace = await makeNamespace(server, 'limits')
    const limits = [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '100m' }, max: { cpu: '2' } }]
    const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits } }
    t.equal((await make(server, `${namespace}/limitranges`, range)).status, 201)
    t.match((await make(server, `${namespace}/pods`, pod('a'))).json, {
      spec: {
        containers: [{ imagePullPolicy: 'Always', resources: { limits: { cpu: '1' }, requests: { cpu: '100m' } } }],
        priority: 0,
        serviceAccountName: 'default',
        tolerations: [{}, {}],
        volumes: [{ projected: {} }],
      },
    })
    t.equal((await server.request('GET', `${namespace}/serviceaccounts/default`)).status, 200)
    const large = await make(server, `${namespace}/pods`, pod('b', { resources: { limits: { cpu: '3' } } }))
    t.equal(large.status, 403)
  })

  await t.test('PodSecurity refuses pods and warns of workloads', async (t) => {
    const namespace = await makeNamespace(server, 'secure', { 'pod-security.kubernetes.io/enforce': 'baseline' })
    const privileged = pod('p', { securityContext: { privileged: true } })
    t.equal((await make(server, `${namespace}/pods`, privileged)).status, 403)
    t.equal((await make(server, `${namespace}/pods`, pod('q'))).status, 201)
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { hostPID: true, containers: [{ name: 'c', image: 'i' }] },
        },
      },
    }
    const path = '/apis/apps/v1/namespaces/secure/deployments'
    const warned = await server.request('POST', path, deployment)
    t.equal(warned.status, 201)
    t.match(warned.headers.get('warning'), /would violate PodSecurity/)
  })

  await t.test('ResourceQuota: exactly as many as fit, and room again after a deletion', async (t) => {
    const namespace = await makeNamespace(server, 'quota')
    await makeQuota(server, namespace, { 'count/configmaps': String(HOW_MANY) })
    const counts = await createMany([server], namespace)
    t.same(Object.fromEntries(counts), { 201: HOW_MANY, 403: 2 * HOW_MANY })
    t.same(await used(server, namespace), { 'count/configmaps': String(HOW_MANY) })
    const { json } = await server.request('GET', `${namespace}/configmaps`)
    const { name } = (json as { items: { metadata: { name: string } }[] }).items[0]!.metadata
    // Made before, so not counted twice: the failed creation gives back what it took.
    await server.request('DELETE', `${namespace}/configmaps/${name}`)
    t.same(await used(server, namespace), { 'count/configmaps': String(HOW_MANY - 1) })
    t.equal((await make(server, `${namespace}/configmaps`, configMap(name))).status, 201)
    await server.request('DELETE', `${namespace}/configmaps`)
    t.same(await used(server, namespace), { 'count/configmaps': '0' })
    await make(server, `${namespace}/configmaps`, configMap('x'))
    t.equal((await make(server, `${namespace}/configmaps`, configMap('x'))).status, 409)
    t.same(await used(server, namespace), { 'count/configmaps': '1' })
  })
})

t.test('two servers on one etcd share a quota', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const flags = [`--etcd-servers=${etcd.endpoint}`]
  const servers = await Promise.all([KeelsonProcess.start(flags), KeelsonProcess.start(flags)])
  t.teardown(() => Promise.all(servers.map((server) => server.close())))
  const [first, second] = servers as [KeelsonProcess, KeelsonProcess]
  const namespace = await makeNamespace(first, 'shared')
  await makeQuota(first, namespace, { configmaps: String(HOW_MANY) })
  await until(
    async () => (await second.request('GET', `${namespace}/resourcequotas/q?resourceVersion=0`)).status === 200,
    { what: 'the quota to be in the memory of the second server' },
  )
  const counts = await createMany(servers, namespace)
  t.same(Object.fromEntries(counts), { 201: HOW_MANY, 403: 2 * HOW_MANY })
  t.same(await used(second, namespace), { configmaps: String(HOW_MANY) })
})

t.test('flags: all mistakes at once, and plugins turned off', async (t) => {
  await t.rejects(
    KeelsonProcess.start(['--enable-admission-plugins=Nope', '--disable-admission-plugins=Neither']),
    /Nope.*unknown; there are AlwaysAdmit[\s\S]*Neither/,
  )
  const server = await KeelsonProcess.start(['--disable-admission-plugins=Priority,NamespaceLifecycle,PodSecurity'])
  t.teardown(() => server.close())
  const { status, json } = await make(server, '/api/v1/namespaces/none/pods', pod('a'))
  t.equal(status, 201, 'nobody asks whether the namespace is there')
  t.notMatch(json, { spec: { priority: 0 } })
  const file = path.join(t.testdir(), 'admission.yaml')
  writeFileSync(
    file,
    `kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration: {defaults: {enforce: loose}}
- name: Priority
  configuration: {}
`,
  )
  await t.rejects(
    KeelsonProcess.start([`--admission-control-config-file=${file}`]),
    /defaults.enforce must be one of[\s\S]*"Priority" takes no configuration/,
  )
})

import t from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

// One role in etcd that nobody can read: what others may do, and how it is got rid of.

const GROUP = 'rbac.authorization.k8s.io'
const RBAC = `/apis/${GROUP}/v1`
const ROLES = `${RBAC}/namespaces/default/roles`
const UNSAFE = 'ignoreStoreReadErrorWithClusterBreakingPotential=true'
const BOB = { 'impersonate-user': 'bob' }

const base64 = (text: string): string => Buffer.from(text).toString('base64')

async function writeRaw(etcd: EtcdServer, key: string, value: string): Promise<void> {
  const body = JSON.stringify({ key: base64(key), value: base64(value) })
  const answer = await fetch(`${etcd.endpoint}/v3/kv/put`, { method: 'POST', body })
  if (!answer.ok) throw new Error(await answer.text())
}

async function create(server: KeelsonProcess, path: string, body: object): Promise<void> {
  const { status, text } = await server.request('POST', path, body)
  if (status !== 201) throw new Error(text)
}

const clusterRole = (name: string, verbs: readonly string[]) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'ClusterRole',
  metadata: { name },
  rules: [{ apiGroups: [GROUP], resources: ['roles'], verbs }],
})
const toBob = (name: string) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name },
  subjects: [{ kind: 'User', name: 'bob', apiGroup: GROUP }],
})

t.test(
  'an unreadable role takes no rights away, and goes by who says so and may',
  { skip: skipWithoutEtcd },
  async (t) => {
    const etcd = await EtcdServer.start()
    t.teardown(() => etcd.stop())
    const server = await KeelsonProcess.start([`--etcd-servers=${etcd.endpoint}`])
    t.teardown(() => server.close())
    const status = async (method: string, path: string, headers = {}): Promise<number> =>
      (await server.request(method, path, undefined, headers)).status
    await create(server, ROLES, { apiVersion: `${GROUP}/v1`, kind: 'Role', metadata: { name: 'good' }, rules: [] })
    await create(server, `${RBAC}/clusterroles`, clusterRole('roles-deleter', ['get', 'list', 'delete']))
    await create(server, `${RBAC}/clusterrolebindings`, toBob('roles-deleter'))
    await until(async () => (await status('GET', `${ROLES}/good`, BOB)) === 200, {
      what: 'the readable role to take effect',
    })

    await writeRaw(etcd, '/registry/roles/default/bad', 'not an object')
    await until(async () => (await status('GET', ROLES)) === 500, { what: 'the unreadable role to be noticed' })
    t.equal(await status('GET', `${ROLES}/good`, BOB), 200, 'bob may what he might, and the others are read')
    t.equal(await status('GET', `${ROLES}/bad`, BOB), 500)
    const plain = await server.request('DELETE', `${ROLES}/bad`)
    t.match([plain.status, plain.json], [500, { reason: 'InternalError' }])
    const forbidden = await server.request('DELETE', `${ROLES}/bad?${UNSAFE}`, undefined, BOB)
    t.match(
      [forbidden.status, forbidden.json],
      [403, { reason: 'Forbidden', message: /unsafe-delete-ignore-read-errors/ }],
    )

    await create(server, `${RBAC}/clusterroles`, clusterRole('roles-breaker', ['unsafe-delete-ignore-read-errors']))
    await create(server, `${RBAC}/clusterrolebindings`, toBob('roles-breaker'))
    t.equal(await status('DELETE', `${ROLES}/bad?dryRun=All&${UNSAFE}`, BOB), 200)
    t.equal(await status('GET', `${ROLES}/bad`), 500, 'a dry run deletes nothing')
    const deleted = await server.request('DELETE', `${ROLES}/bad?${UNSAFE}`, undefined, BOB)
    t.match([deleted.status, deleted.json], [200, { status: 'Success', details: { name: 'bad', kind: 'Role' } }])
    t.equal(await status('DELETE', `${ROLES}/bad?${UNSAFE}`, BOB), 404)
    t.equal(await status('GET', ROLES, BOB), 200)
    const ready = /keelson_cache_ready\{[^}]*resource="roles"[^}]*\} 1/
    await until(async () => ready.test((await server.request('GET', '/metrics')).text), {
      what: 'the resource to be ready again',
    })
    t.equal(await status('DELETE', `${ROLES}/good?${UNSAFE}`, BOB), 200, 'what can be read is deleted as ever')
  },
)

import t from 'tap'
import { Exposition } from '../support/exposition.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

// Roles that are larger than any resource may be in memory: every request is decided by them, so they stay.

const GROUP = 'rbac.authorization.k8s.io'
const RBAC = `/apis/${GROUP}/v1`
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const LIMIT = '--cache-memory-limit=2Mi'
const ROLES = 24
const BOB = { 'impersonate-user': 'bob' }
const NOTE = 'x'.repeat(200_000)

const object = (kind: string, name: string, more: object): object => ({
  apiVersion: `${GROUP}/v1`,
  kind,
  metadata: { name, annotations: { note: NOTE } },
  ...more,
})

async function create(server: KeelsonProcess, path: string, body: object): Promise<void> {
  const { status, text } = await server.request('POST', path, body)
  if (status !== 201) throw new Error(text)
}

async function fallen(server: KeelsonProcess): Promise<string[]> {
  const { text } = await server.request('GET', '/metrics')
  const samples = new Exposition(text).families.get('keelson_cache_ready')?.samples ?? []
  return samples.filter(({ value }) => value === 0).map(({ labels }) => labels['resource'] ?? '')
}

t.test('roles and bindings beyond the memory limit are in force, at once and after a restart', async (t) => {
  const folder = temporaryFolder(t, 'rules')
  const flags = [LIMIT, `--data-dir=${folder}`]
  const first = await KeelsonProcess.start(flags)
  t.teardown(() => first.close())
  for (let i = 0; i < ROLES; i++) {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
    await create(first, `${RBAC}/clusterroles`, object('ClusterRole', `r${i}`, { rules }))
    const roleRef = { apiGroup: GROUP, kind: 'ClusterRole', name: `r${i}` }
    const subjects = [{ kind: 'User', name: i === ROLES - 1 ? 'bob' : 'nobody', apiGroup: GROUP }]
    await create(first, `${RBAC}/clusterrolebindings`, object('ClusterRoleBinding', `r${i}`, { roleRef, subjects }))
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c${i}` }, data: { NOTE } }
    await create(first, CONFIGMAPS, map)
  }
  const list = async (server: KeelsonProcess): Promise<number> =>
    (await server.request('GET', `${CONFIGMAPS}?limit=1`, undefined, BOB)).status
  await until(async () => (await fallen(first)).includes('configmaps'), { what: 'configmaps to fall back' })
  t.same(await fallen(first), ['configmaps'], 'the limit is for the others')
  t.equal(await list(first), 200)
  await first.close()
  const second = await KeelsonProcess.start(flags)
  t.teardown(() => second.close())
  t.equal(await list(second), 200, 'with the first answer of a new process')
  t.same(await fallen(second), ['configmaps'])
})

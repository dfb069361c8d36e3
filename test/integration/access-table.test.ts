import t from 'tap'
import { temporaryFolder } from '../support/temporary-folder.js'
import { AccessServer, type Identity } from './access-fixture.js'

/** What nobody may read in an error: what secrets hold, and how access is arranged. */
const PRIVATE = ['hunter2', 'aHVudGVyMg', 'secret-arrangement', 'inner-role', 'resourceVersion', 'uid-of']

const READ = ['get', 'list', 'watch']
const ROLES: readonly [namespace: string, name: string, rules: readonly object[]][] = [
  [
    'a',
    'inner-role-pods',
    [
      { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: READ },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch'] },
    ],
  ],
  ['a', 'inner-role-one', [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['only'], verbs: READ }]],
  ['a', 'inner-role-all', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]],
  ['b', 'inner-role-writer', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'update', 'patch'] }]],
  [
    '',
    'inner-role-nodes',
    [
      { apiGroups: [''], resources: ['nodes'], verbs: READ },
      { apiGroups: ['apps'], resources: ['*/scale'], verbs: ['get', 'update'] },
    ],
  ],
  ['', 'inner-role-paths', [{ nonResourceURLs: ['/metrics', '/logs/*'], verbs: ['get'] }]],
  [
    '',
    'inner-role-masquerade',
    [{ apiGroups: [''], resources: ['users'], resourceNames: ['dev'], verbs: ['impersonate'] }],
  ],
]
const BINDINGS: readonly [namespace: string, name: string, role: string, who: readonly string[]][] = [
  ['a', 'secret-arrangement-1', 'Role/inner-role-pods', ['user:ann', 'account:a/robot', 'user:cert-ann']],
  ['a', 'secret-arrangement-2', 'Role/inner-role-one', ['user:one']],
  ['a', 'secret-arrangement-3', 'Role/inner-role-all', ['group:owners']],
  ['a', 'secret-arrangement-4', 'ClusterRole/view', ['group:dev']],
  ['b', 'secret-arrangement-5', 'ClusterRole/edit', ['user:eve']],
  ['b', 'secret-arrangement-6', 'Role/inner-role-writer', ['account:a/robot']],
  ['', 'secret-arrangement-7', 'ClusterRole/inner-role-nodes', ['group:ops', 'account:b/robot']],
  ['', 'secret-arrangement-8', 'ClusterRole/inner-role-paths', ['user:scraper']],
  ['', 'secret-arrangement-9', 'ClusterRole/view', ['group:cert-viewers']],
  ['', 'secret-arrangement-10', 'ClusterRole/inner-role-masquerade', ['user:mask']],
]
const TOKENS = [
  'root,root,1,"system:masters"',
  'ann,ann,2',
  'one,one,3',
  'owner,owner,4,"owners"',
  'dev,dev,5,"dev"',
  'eve,eve,6',
  'ops,ops,7,"ops"',
  'scraper,scraper,8',
  'nobody,nobody,9',
  'mask,mask,10',
  'fake,system:masters,11',
  'sa-a,system:serviceaccount:a:robot,12,"system:serviceaccounts,system:serviceaccounts:a"',
  'sa-b,system:serviceaccount:b:robot,13,"system:serviceaccounts,system:serviceaccounts:b"',
]

/** who, yes or no, method, path. `N` in a path stands for /api/v1/namespaces. */
const TABLE = `
root yes GET N/a/secrets/only
root yes GET N/a/secrets
root yes GET /metrics
root yes DELETE N/a/configmaps/none
root yes GET /api/v1/nodes
root yes POST N/a/configmaps
fake no GET N/a/secrets/only
fake no GET /api/v1/nodes
fake no GET /metrics
admin-cert yes GET N/a/secrets/only
admin-cert yes GET N/kube-system/configmaps
admin-cert yes GET /metrics
admin-cert yes DELETE N/a/pods/none
ann yes GET N/a/pods
ann yes GET N/a/pods/p
ann yes GET N/a/pods?watch=1
ann yes GET N/a/pods/p/log
ann no GET N/a/pods/p/status
ann no GET N/a/pods/p/exec
ann no POST N/a/pods/p/exec
ann no DELETE N/a/pods/p
ann no DELETE N/a/pods
ann no POST N/a/pods
ann no PUT N/a/pods/p
ann no PATCH N/a/pods/p
ann no GET N/b/pods
ann no GET N/b/pods/p
ann no GET /api/v1/pods
ann no GET /api/v1/pods?watch=1
ann no GET N/a/secrets
ann no GET N/a/secrets/only
ann no GET N/a/configmaps
ann no GET N/a/configmaps/c
ann yes POST N/a/configmaps
ann no PUT N/a/configmaps/c
ann no GET N/a
ann no GET /api/v1/namespaces
ann no GET /api/v1/nodes
ann no GET /apis/apps/v1/namespaces/a/deployments
ann no GET /apis/none.io/v1/things
ann yes GET /api
ann yes GET /apis
ann yes GET /apis/apps/v1
ann yes GET /openapi/v3
ann yes GET /version
ann yes GET /healthz
ann yes GET /readyz
ann no GET /metrics
ann no GET /logs/x
ann no GET /debug/pprof
ann no GET /
ann yes POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews
ann yes POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews
ann no POST /apis/authorization.k8s.io/v1/subjectaccessreviews
ann no POST /apis/authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews
ann no POST /apis/authentication.k8s.io/v1/tokenreviews
ann no POST N/a/serviceaccounts/robot/token
ann no GET /apis/rbac.authorization.k8s.io/v1/clusterroles
ann no POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings
ann no POST /apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings
cert-ann yes GET N/a/pods
cert-ann yes GET N/a/pods/p/log
cert-ann yes GET N/a/pods?watch=true
cert-ann no GET N/b/pods
cert-ann no GET N/a/secrets/only
cert-ann no DELETE N/a/pods/p
cert-ann no GET /api/v1/nodes
cert-viewer yes GET N/a/pods
cert-viewer yes GET N/b/pods
cert-viewer yes GET /api/v1/pods
cert-viewer yes GET N/a/configmaps
cert-viewer yes GET /apis/apps/v1/deployments
cert-viewer yes GET /apis/apps/v1/namespaces/a/deployments/none/scale
cert-viewer yes GET /api/v1/namespaces
cert-viewer no GET N/a/secrets
cert-viewer no GET N/a/secrets/only
cert-viewer no GET /api/v1/nodes
cert-viewer no DELETE N/a/pods/p
cert-viewer no PUT N/a/configmaps/c
cert-viewer no GET /apis/rbac.authorization.k8s.io/v1/namespaces/a/roles
cert-viewer no POST N/a/pods
cert-viewer no GET N/a/pods/p/exec
cert-nobody no GET N/a/pods
cert-nobody no GET /api/v1/nodes
cert-nobody yes GET /version
cert-nobody no GET /metrics
one yes GET N/a/secrets/only
one no GET N/a/secrets/other
one no GET N/a/secrets/none
one no GET N/a/secrets
one yes GET N/a/secrets?fieldSelector=metadata.name%3Donly
one yes GET N/a/secrets?fieldSelector=metadata.name%3Donly&watch=1
one no GET N/a/secrets?fieldSelector=metadata.name%3Dother
one no GET N/a/secrets?fieldSelector=metadata.name!%3Donly
one no GET N/a/secrets?labelSelector=metadata.name%3Donly
one no GET N/a/secrets?watch=1
one no GET N/b/secrets/only
one no GET /api/v1/secrets?fieldSelector=metadata.name%3Donly
one no DELETE N/a/secrets/only
one no PATCH N/a/secrets/only
one no GET N/a/secrets/only/status
one no GET N/a/configmaps/only
owner yes GET N/a/secrets
owner yes GET N/a/secrets/only
owner yes DELETE N/a/pods/none
owner yes POST N/a/configmaps
owner yes GET /apis/apps/v1/namespaces/a/deployments
owner yes GET /apis/rbac.authorization.k8s.io/v1/namespaces/a/roles
owner no GET N/b/secrets
owner no GET N/b/pods/p
owner no GET /api/v1/secrets
owner no GET /api/v1/nodes
owner no GET /metrics
owner no POST /api/v1/namespaces
owner yes GET N/a
owner no GET N/b
dev yes GET N/a/pods
dev yes GET N/a/configmaps
dev yes GET /apis/apps/v1/namespaces/a/deployments
dev no GET N/a/secrets
dev no GET N/a/secrets/only
dev no GET N/b/pods
dev no POST N/a/configmaps
dev no DELETE N/a/configmaps/c
eve yes GET N/b/pods
eve yes POST N/b/configmaps
eve yes DELETE N/b/configmaps/none
eve yes GET N/b/secrets
eve yes POST N/b/serviceaccounts/none/token
eve no GET N/a/pods
eve no GET N/a/secrets/only
eve no POST /apis/rbac.authorization.k8s.io/v1/namespaces/b/roles
eve no POST /apis/rbac.authorization.k8s.io/v1/namespaces/b/rolebindings
eve no GET /api/v1/nodes
eve no PUT N/b/resourcequotas/q
eve no DELETE N/b
ops yes GET /api/v1/nodes
ops yes GET /api/v1/nodes/n
ops yes GET /api/v1/nodes?watch=1
ops no DELETE /api/v1/nodes/n
ops no GET /api/v1/nodes/n/status
ops no GET /api/v1/nodes/n/proxy/metrics
ops yes GET /apis/apps/v1/namespaces/a/deployments/none/scale
ops yes PUT /apis/apps/v1/namespaces/b/statefulsets/none/scale
ops no GET /apis/apps/v1/namespaces/a/deployments/none
ops no GET N/a/replicationcontrollers/none/scale
ops no PATCH /apis/apps/v1/namespaces/a/deployments/none/scale
ops no GET N/a/pods
scraper yes GET /metrics
scraper yes GET /logs/a
scraper no GET /logs
scraper no POST /metrics
scraper no GET /metrics/slis
scraper no GET N/a/pods
nobody no GET N/a/pods
nobody no GET N/a/secrets/only
nobody no GET N/a/secrets/none
nobody no GET /api/v1/namespaces
nobody yes GET /api
nobody no GET /metrics
mask no GET N/a/pods
mask-dev no GET N/a/pods
mask-dev yes GET /api
mask-root no GET N/a/pods
mask-group no GET N/a/pods
ann-as-dev no GET N/a/pods
root-as-ann yes GET N/a/pods
root-as-ann no GET N/b/pods
root-as-ann no GET N/a/secrets/only
root-as-sa yes GET N/a/pods
root-as-sa no GET N/c/pods
sa-a yes GET N/a/pods
sa-a yes GET N/b/configmaps/c
sa-a yes PATCH N/b/configmaps/none
sa-a no POST N/b/configmaps
sa-a no DELETE N/b/configmaps/c
sa-a no GET N/b/pods
sa-a no GET /api/v1/nodes
sa-a yes GET /api
sa-b yes GET /api/v1/nodes
sa-b no GET N/a/pods
sa-b no GET N/b/configmaps/c
anonymous no GET N/a/pods
anonymous no GET N/a/secrets/only
anonymous no GET /api
anonymous no GET /apis
anonymous no GET /metrics
anonymous no POST N/a/configmaps
anonymous yes GET /healthz
anonymous yes GET /livez
anonymous yes GET /readyz
anonymous yes GET /version
anonymous no POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews
`

t.test('who may do what', async (t) => {
  const server = await AccessServer.start(temporaryFolder(t, 'access-table'), TOKENS)
  t.teardown(() => server.close())
  for (const name of ['a', 'b', 'c']) await server.make('/api/v1/namespaces', { metadata: { name } })
  for (const name of ['only', 'other'])
    await server.make('/api/v1/namespaces/a/secrets', { metadata: { name }, stringData: { password: 'hunter2' } })
  await server.make('/api/v1/namespaces/b/configmaps', { metadata: { name: 'c' }, data: { x: 'hunter2' } })
  for (const role of ROLES) await server.role(...role)
  for (const binding of BINDINGS) await server.bind(...binding)

  const token = (name: string, headers: Record<string, string> = {}): Identity => ({
    headers: { authorization: `Bearer ${name}`, ...headers },
  })
  const identities: Record<string, Identity> = {
    ...Object.fromEntries(TOKENS.map((line) => line.split(',', 1)[0]!).map((name) => [name, token(name)])),
    'admin-cert': server.admin,
    'cert-ann': server.certificate('cert-ann', []),
    'cert-viewer': server.certificate('anybody', ['cert-viewers', 'others']),
    'cert-nobody': server.certificate('cert-viewers', ['group-without-rights']),
    // Who may pretend to be dev has not dev's groups, and dev's rights come by a group.
    'mask-dev': token('mask', { 'impersonate-user': 'dev' }),
    'mask-root': token('mask', { 'impersonate-user': 'root' }),
    'mask-group': token('mask', { 'impersonate-user': 'dev', 'impersonate-group': 'system:masters' }),
    'ann-as-dev': token('ann', { 'impersonate-user': 'dev' }),
    'root-as-ann': token('root', { 'impersonate-user': 'ann' }),
    'root-as-sa': token('root', { 'impersonate-user': 'system:serviceaccount:a:robot' }),
    anonymous: {},
  }
  const expected = TABLE.trim()
    .split('\n')
    .map((line) => line.split(' '))
  t.ok(expected.length >= 150, `${expected.length} requests`)
  const answers = await Promise.all(
    expected.map(async ([who = '', may = '', method = '', shortPath = '']) => {
      const url = shortPath.replace(/^N\//, '/api/v1/namespaces/')
      const body = method === 'GET' || method === 'DELETE' ? undefined : {}
      const headers: Record<string, string> =
        method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
      const answer = await server.ask(identities[who]!, method, url, body, headers)
      return { row: `${who} ${may} ${method} ${shortPath}`, may: may === 'yes', answer }
    }),
  )
  for (const { row, may, answer } of answers) {
    t.equal(
      answer.status !== 403 && answer.status !== 401,
      may,
      `${row}: ${answer.status} ${may ? answer.body.slice(0, 200) : ''}`,
    )
    if (may) continue
    const { kind, reason, details } = JSON.parse(answer.body) as { kind: string; reason: string; details: object }
    t.same({ kind, reason }, { kind: 'Status', reason: 'Forbidden' }, row)
    t.ok(
      Object.keys(details).every((key) => ['name', 'group', 'kind'].includes(key)),
      row,
    )
    for (const word of PRIVATE) t.notMatch(answer.body, word, `${row} says nothing of ${word}`)
  }

  t.test('what is there and what is not look the same to who may not see it', async (t) => {
    for (const who of ['nobody', 'one', 'dev', 'anonymous'])
      for (const method of ['GET', 'DELETE']) {
        const there = await server.ask(identities[who]!, method, '/api/v1/namespaces/a/secrets/other')
        const not = await server.ask(identities[who]!, method, '/api/v1/namespaces/a/secrets/thing')
        t.equal(there.body.replaceAll('other', 'thing'), not.body, `${who} ${method}`)
        const nowhere = await server.ask(identities[who]!, method, '/api/v1/namespaces/nope/secrets/other')
        t.equal(nowhere.status, 403, 'nor whether there is such a namespace')
      }
  })
})

import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const API_VERSION = 'rbac.authorization.k8s.io/v1'
const GROUP = 'rbac.authorization.k8s.io'

interface Rule {
  verbs: string[]
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
  nonResourceURLs?: string[]
}
const role = (name: string, rules: Rule[], more = {}) => ({
  apiVersion: API_VERSION,
  kind: 'Role',
  metadata: { name },
  rules,
  ...more,
})
const clusterRole = (name: string, rules: Rule[] | null, more = {}) => ({
  ...role(name, rules ?? []),
  kind: 'ClusterRole',
  ...more,
})
const bindingOf = (kind: string, name: string, roleKind: string, roleName: string, users: string[]) => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name },
  subjects: users.map((user) => ({ kind: 'User', name: user, apiGroup: GROUP })),
  roleRef: { apiGroup: GROUP, kind: roleKind, name: roleName },
})
const PODS: Rule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }
const SECRETS: Rule = { verbs: ['get'], apiGroups: [''], resources: ['secrets'] }
const ANYTHING: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }

t.test('nobody gets more by writing roles, bindings and aggregated roles', async (t) => {
  const folder = temporaryFolder(t, 'access')
  const tokens = path.join(folder, 'tokens.csv')
  writeFileSync(
    tokens,
    [
      'admin,admin,1,"system:masters"',
      'rolemaker,rolemaker,2',
      'binder,binder,3',
      'owner,owner,4',
      'mallory,mallory,5',
    ].join('\n'),
  )
  const server = await KeelsonProcess.start(['--controllers=clusterrole-aggregation', '--token-auth-file', tokens])
  t.teardown(() => server.close())
  const as = (user: string, method: string, url: string, body?: unknown, headers = {}) =>
    server.request(method, url, body, { authorization: `Bearer ${user}`, ...headers })
  const ok = async (method: string, url: string, body?: unknown) => {
    const answer = await as('admin', method, url, body)
    t.ok(answer.status < 300, `${method} ${url}: ${answer.status} ${answer.status < 300 ? '' : answer.text}`)
  }
  await ok('POST', '/api/v1/namespaces', { metadata: { name: 'a' } })
  const write: Rule = { verbs: ['create', 'update', 'patch', 'get', 'delete'], apiGroups: [GROUP], resources: ['*'] }
  await ok('POST', `${RBAC}/clusterroles`, clusterRole('rbac-writer', [write, PODS]))
  await ok('POST', `${RBAC}/clusterroles`, clusterRole('secret-reader', [SECRETS]))
  await ok(
    'POST',
    `${RBAC}/clusterroles`,
    clusterRole('escalator', [{ ...write, verbs: ['escalate'], resources: ['roles', 'clusterroles'] }]),
  )
  await ok(
    'POST',
    `${RBAC}/clusterroles`,
    clusterRole('bind-secret-reader', [
      { verbs: ['bind'], apiGroups: [GROUP], resources: ['clusterroles'], resourceNames: ['secret-reader'] },
    ]),
  )
  const bind = (name: string, roleName: string, users: string[]) =>
    ok('POST', `${RBAC}/clusterrolebindings`, bindingOf('ClusterRoleBinding', name, 'ClusterRole', roleName, users))
  await bind('writers', 'rbac-writer', ['rolemaker', 'binder', 'owner'])
  await bind('binders', 'bind-secret-reader', ['binder'])
  await bind('escalators', 'escalator', ['owner'])

  const roles = `${RBAC}/namespaces/a/roles`
  const bindings = `${RBAC}/namespaces/a/rolebindings`
  const status = async (...request: Parameters<typeof as>) => (await as(...request)).status

  t.equal(await status('rolemaker', 'POST', roles, role('mine', [PODS])), 201, 'what one holds may be given')
  const refused = await as('rolemaker', 'POST', roles, role('more', [PODS, SECRETS]))
  t.equal(refused.status, 403)
  t.match(refused.json, {
    reason: 'Forbidden',
    details: { name: 'more', group: GROUP, kind: 'roles' },
    message: /is attempting to grant RBAC permissions not currently held:\n.*secrets/,
  })
  t.notMatch(refused.text, '"pods"', 'what is held is not said to be missing')
  for (const [what, rules] of [
    ['every verb', [{ ...PODS, verbs: ['*'] }]],
    ['every resource', [{ ...PODS, resources: ['*'] }]],
    ['every group', [{ ...PODS, apiGroups: ['*'] }]],
    ['a subresource', [{ ...PODS, resources: ['pods/exec'] }]],
    ['everything', [ANYTHING]],
  ] as const)
    t.equal(await status('rolemaker', 'POST', roles, role('x', [...rules] as Rule[])), 403, what)
  t.equal(
    await status(
      'rolemaker',
      'POST',
      `${RBAC}/clusterroles`,
      clusterRole('x', [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }]),
    ),
    403,
    'paths',
  )
  t.equal(
    await status('rolemaker', 'POST', roles, role('named', [{ ...PODS, resourceNames: ['one'] }])),
    201,
    'less than one holds',
  )

  const escalating = role('mine', [SECRETS])
  t.equal(await status('rolemaker', 'PUT', `${roles}/mine`, escalating), 403, 'by an update')
  t.equal(
    await status('rolemaker', 'PUT', `${roles}/new-by-put`, role('new-by-put', [SECRETS])),
    403,
    'by an update that creates',
  )
  for (const [type, body] of [
    ['application/merge-patch+json', { rules: [SECRETS] }],
    ['application/strategic-merge-patch+json', { rules: [SECRETS] }],
    ['application/json-patch+json', [{ op: 'add', path: '/rules/-', value: SECRETS }]],
  ] as const)
    t.equal(await status('rolemaker', 'PATCH', `${roles}/mine`, body, { 'content-type': type }), 403, type)
  const applied = (name: string) =>
    status('rolemaker', 'PATCH', `${roles}/${name}?fieldManager=x&force=true`, role(name, [SECRETS]), {
      'content-type': 'application/apply-patch+yaml',
    })
  t.equal(await applied('mine'), 403, 'by apply')
  t.equal(await applied('new-by-apply'), 403, 'by an apply that creates')
  t.equal(await status('rolemaker', 'POST', `${roles}?dryRun=All`, role('dry', [SECRETS])), 403, 'not even as a try')
  t.equal(await status('rolemaker', 'POST', roles, { ...role('', [SECRETS]), metadata: { generateName: 'x-' } }), 403)

  const toSecrets = (name: string) => bindingOf('RoleBinding', name, 'ClusterRole', 'secret-reader', ['mallory'])
  t.equal(
    await status('rolemaker', 'POST', bindings, toSecrets('b1')),
    403,
    'a binding to a role that one does not hold',
  )
  t.equal(await status('binder', 'POST', bindings, toSecrets('b2')), 201, 'unless one may bind that role')
  t.equal(
    await status(
      'binder',
      'POST',
      bindings,
      bindingOf('RoleBinding', 'b3', 'ClusterRole', 'cluster-admin', ['mallory']),
    ),
    403,
    'and only that one',
  )
  t.equal(await status('mallory', 'GET', '/api/v1/namespaces/a/secrets/none'), 404, 'the binding counts at once')
  t.equal(await status('mallory', 'GET', '/api/v1/namespaces/b/secrets/none'), 403)
  t.equal(
    await status(
      'rolemaker',
      'PATCH',
      `${bindings}/b2`,
      { subjects: [{ kind: 'User', name: 'rolemaker', apiGroup: GROUP }] },
      { 'content-type': 'application/merge-patch+json' },
    ),
    403,
    'nobody adds themselves to a binding of a role that they do not hold',
  )
  t.equal(
    await status('rolemaker', 'POST', bindings, bindingOf('RoleBinding', 'b4', 'Role', 'not-there', ['mallory'])),
    404,
    'a role that is not there',
  )
  t.equal(await status('rolemaker', 'POST', bindings, bindingOf('RoleBinding', 'b5', 'Role', 'mine', ['mallory'])), 201)
  const changed = await as(
    'binder',
    'PATCH',
    `${bindings}/b2`,
    { roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'rbac-writer' } },
    { 'content-type': 'application/merge-patch+json' },
  )
  t.equal(changed.status, 422, 'the role of a binding does not change')
  t.match(changed.json, { details: { causes: [{ field: 'roleRef' }] } })
  t.equal(await status('owner', 'POST', roles, role('by-escalate', [ANYTHING])), 201, 'who may escalate may')
  t.equal(
    await status('owner', 'POST', bindings, bindingOf('RoleBinding', 'b6', 'Role', 'by-escalate', ['owner'])),
    403,
    'but not bind it',
  )

  const gathers = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { gather: 'me' } }] } }
  t.equal(
    await status('rolemaker', 'POST', `${RBAC}/clusterroles`, clusterRole('gatherer', null, gathers)),
    403,
    'an aggregated role can come to hold anything',
  )
  await ok('POST', `${RBAC}/clusterroles`, clusterRole('gatherer', null, gathers))
  t.equal(
    await status(
      'rolemaker',
      'PATCH',
      `${RBAC}/clusterroles/gatherer`,
      { metadata: { labels: { x: 'y' } } },
      { 'content-type': 'application/merge-patch+json' },
    ),
    403,
  )
  await ok('POST', `${RBAC}/clusterroles`, {
    ...clusterRole('part', [SECRETS]),
    metadata: { name: 'part', labels: { gather: 'me' } },
  })
  const rulesOf = async (name: string) =>
    ((await as('admin', 'GET', `${RBAC}/clusterroles/${name}`)).json as { rules: Rule[] | null }).rules
  const filled = async (name: string, want: (rules: Rule[] | null) => boolean) => {
    let rules: Rule[] | null = null
    const asWanted = async (): Promise<boolean> => {
      rules = await rulesOf(name)
      return want(rules)
    }
    await until(asWanted, { what: `the rules of ${name} to be gathered` })
    return rules as Rule[] | null
  }
  t.match(await filled('gatherer', (rules) => (rules?.length ?? 0) > 0), [SECRETS])
  await ok('DELETE', `${RBAC}/clusterroles/part`)
  t.same((await filled('gatherer', (rules) => (rules?.length ?? 0) === 0)) ?? [], [])
})

import t from 'tap'
import { RbacAuthorizer } from '#keelson/auth/authz/rbac-authorizer.js'
import { RbacIndex } from '#keelson/auth/authz/rbac-index.js'
import type { Attributes } from '#keelson/auth/interface.js'
import { clusterRole, clusterRoleBinding, RbacMemory, role, roleBinding } from './rbac-memory.js'

function attributes(
  name: string,
  groups: readonly string[],
  what: Partial<Attributes> & { readonly verb: string },
): Attributes {
  const isResourceRequest = what.path === undefined
  return {
    user: { name, uid: '', groups, extra: {} },
    isResourceRequest,
    namespace: '',
    apiGroup: '',
    apiVersion: 'v1',
    resource: '',
    subresource: '',
    name: '',
    path: '',
    ...what,
  }
}

function setUp() {
  const memory = new RbacMemory()
  const authorizer = new RbacAuthorizer(new RbacIndex(memory.source))
  const may = (name: string, groups: readonly string[], what: Partial<Attributes> & { readonly verb: string }) =>
    authorizer.authorize(attributes(name, groups, what)).decision === 'allow'
  return { memory, authorizer, may }
}

t.test(
  'nothing is allowed before everything was in memory; what was last known stays in force when memory goes',
  async (t) => {
    const { memory, authorizer, may } = setUp()
    memory.put(clusterRole('all', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]))
    memory.put(clusterRoleBinding('all', 'all', [{ kind: 'User', name: 'ann' }]))
    const get = { verb: 'get', resource: 'pods', namespace: 'a', name: 'x' }
    memory.ready('roles', false)
    t.notOk(may('ann', [], get))
    t.match(authorizer.authorize(attributes('ann', [], get)), { decision: 'no-opinion', error: /not in memory/ })
    memory.ready('roles', true)
    t.ok(may('ann', [], get))
    memory.ready('clusterrolebindings', false)
    t.ok(may('ann', [], get))
    t.notOk(may('bob', [], get))
    memory.put(clusterRoleBinding('all', 'all', [{ kind: 'User', name: 'bob' }]))
    t.ok(may('ann', [], get), 'as it was')
    memory.ready('clusterrolebindings', true)
    t.notOk(may('ann', [], get), 'as it is')
    t.ok(may('bob', [], get))
  },
)

t.test('users, groups and service accounts; roles of a namespace and of the cluster', async (t) => {
  const { memory, may } = setUp()
  const reader = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }]
  memory.put(role('a', 'reader', reader))
  memory.put(clusterRole('reader', [...reader, { verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'] }]))
  memory.put(roleBinding('a', 'b1', 'Role', 'reader', [{ kind: 'User', name: 'ann' }]))
  memory.put(roleBinding('a', 'b2', 'ClusterRole', 'reader', [{ kind: 'Group', name: 'dev' }]))
  memory.put(roleBinding('a', 'b3', 'Role', 'reader', [{ kind: 'ServiceAccount', name: 'robot' }]))
  memory.put(
    clusterRoleBinding('c1', 'reader', [
      { kind: 'ServiceAccount', name: 'robot', namespace: 'b' },
      { kind: 'ServiceAccount', name: 'nowhere' },
    ]),
  )
  const pods = (namespace: string, verb = 'get') => ({ verb, resource: 'pods', namespace })
  const deployments = (namespace: string) => ({ verb: 'get', apiGroup: 'apps', resource: 'deployments', namespace })
  t.ok(may('ann', [], pods('a')))
  t.notOk(may('ann', [], pods('b')), 'another namespace')
  t.notOk(may('ann', [], pods('')), 'all namespaces')
  t.notOk(may('ann', [], pods('a', 'delete')))
  t.notOk(may('ann', [], deployments('a')), 'the role of the namespace, not the one of the cluster of that name')
  t.ok(may('bob', ['other', 'dev'], deployments('a')))
  t.notOk(may('dev', [], deployments('a')), 'a user named as a group')
  t.notOk(may('bob', ['ann'], pods('a')), 'a group named as a user')
  t.ok(may('system:serviceaccount:a:robot', [], pods('a')))
  t.notOk(may('system:serviceaccount:a:robot', [], pods('b')))
  t.ok(may('system:serviceaccount:b:robot', [], pods('c')))
  t.ok(may('system:serviceaccount:b:robot', [], pods('')))
  t.notOk(may('system:serviceaccount::nowhere', [], pods('c')))
  t.notOk(may('robot', [], pods('a')))
})

t.test('verbs, groups, subresources, names and paths', async (t) => {
  const { memory, may } = setUp()
  memory.put(
    clusterRole('r', [
      { verbs: ['get'], apiGroups: [''], resources: ['pods/log', '*/scale'] },
      { verbs: ['*'], apiGroups: ['batch'], resources: ['jobs'] },
      { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['only', 'also'] },
      { verbs: ['get'], apiGroups: ['*'], resources: ['widgets'] },
      { verbs: ['get'], nonResourceURLs: ['/healthz', '/logs/*', '/lit*'] },
    ]),
  )
  memory.put(clusterRoleBinding('r', 'r', [{ kind: 'User', name: 'u' }]))
  memory.put(clusterRole('wild', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]))
  memory.put(clusterRoleBinding('wild', 'wild', [{ kind: 'User', name: 'w' }]))
  const yes: Partial<Attributes>[] = [
    { resource: 'pods', subresource: 'log' },
    { resource: 'replicationcontrollers', subresource: 'scale' },
    { resource: 'jobs', apiGroup: 'batch', verb: 'deletecollection' },
    { resource: 'secrets', name: 'only' },
    { resource: 'secrets', name: 'also' },
    { resource: 'widgets', apiGroup: 'x.io' },
    { resource: 'widgets' },
    { path: '/healthz' },
    { path: '/logs/' },
    { path: '/logs/a/b' },
    { path: '/little' },
  ]
  const no: Partial<Attributes>[] = [
    { resource: 'pods' },
    { resource: 'pods', subresource: 'exec' },
    { resource: 'deployments', apiGroup: 'apps', subresource: 'scale' },
    { resource: 'jobs', apiGroup: 'batch', subresource: 'status' },
    { resource: 'jobs', apiGroup: '' },
    { resource: 'secrets', name: 'other' },
    { resource: 'secrets', name: '' },
    { resource: 'secrets', name: 'only', verb: 'list' },
    { path: '/healthz/ping' },
    { path: '/logs' },
    { path: '/healthz', verb: 'post' },
    { path: '/' },
  ]
  for (const what of yes) t.ok(may('u', [], { verb: 'get', ...what }), JSON.stringify(what))
  for (const what of no) t.notOk(may('u', [], { verb: 'get', ...what }), JSON.stringify(what))
  t.ok(may('w', [], { verb: 'escalate', resource: 'pods', subresource: 'anything', apiGroup: 'x' }))
  t.notOk(may('w', [], { verb: 'get', path: '/healthz' }), 'resources are no paths')
})

t.test('a change counts at once: roles and bindings come, change and go in any order', async (t) => {
  const { memory, authorizer, may } = setUp()
  const get = { verb: 'get', resource: 'pods', namespace: 'a' }
  memory.put(roleBinding('a', 'b', 'Role', 'r', [{ kind: 'User', name: 'u' }]))
  t.notOk(may('u', [], get))
  t.match(authorizer.authorize(attributes('u', [], get)).reason, 'RBAC: role.rbac.authorization.k8s.io "r" not found')
  memory.put(role('a', 'r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]))
  t.ok(may('u', [], get))
  t.equal(
    authorizer.authorize(attributes('u', [], get)).reason,
    'RBAC: allowed by RoleBinding "b/a" of Role "r" to User "u"',
  )
  memory.put(role('a', 'r', []))
  t.notOk(may('u', [], get))
  memory.put(role('a', 'r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]))
  memory.put(roleBinding('a', 'b', 'Role', 'r', [{ kind: 'User', name: 'v' }]))
  t.notOk(may('u', [], get))
  t.ok(may('v', [], get))
  memory.delete(role('a', 'r', []))
  t.notOk(may('v', [], get))
  memory.put(role('a', 'r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]))
  t.ok(may('v', [], get))
  memory.delete(roleBinding('a', 'b', 'Role', 'r', []))
  t.notOk(may('v', [], get))
  memory.put(clusterRole('r', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]))
  memory.put(clusterRoleBinding('odd', 'r', [{ kind: 'User', name: 'v' }], 'Role'))
  t.notOk(may('v', [], get), 'a binding that names a Role where none can be leads nowhere')
})

t.test('the rules of a user: those of the cluster and of the namespace, each binding once', async (t) => {
  const { memory, authorizer } = setUp()
  memory.put(role('a', 'r', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]))
  memory.put(clusterRole('p', [{ verbs: ['get'], nonResourceURLs: ['/x'] }]))
  memory.put(
    roleBinding('a', 'b', 'Role', 'r', [
      { kind: 'User', name: 'u' },
      { kind: 'Group', name: 'g' },
    ]),
  )
  memory.put(clusterRoleBinding('c', 'p', [{ kind: 'Group', name: 'g' }]))
  memory.put(clusterRoleBinding('d', 'gone', [{ kind: 'Group', name: 'g' }]))
  const user = { name: 'u', uid: '', groups: ['g'], extra: {} }
  t.same(authorizer.rulesFor(user, 'a'), {
    resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: [] }],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
    incomplete: true,
    error: 'clusterrole.rbac.authorization.k8s.io "gone" not found',
  })
  t.same(authorizer.rulesFor({ ...user, groups: [] }, 'b').resourceRules, [])
})

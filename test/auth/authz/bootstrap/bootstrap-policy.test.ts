import t from 'tap'
import { aggregatableRole, aggregate } from '#keelson/auth/authz/aggregation.js'
import { bootstrapPolicy } from '#keelson/auth/authz/bootstrap/bootstrap-policy.js'
import { parseBindings, parseRoles } from '#keelson/auth/authz/bootstrap/policy-text.js'
import { reconcileBinding, reconcileRole } from '#keelson/auth/authz/bootstrap/reconcile.js'

t.test('the notation: roles, rules, paths, names, bindings', async (t) => {
  const [first, second, third] = parseRoles(`
all from:x
part to:x
  get,list core,apps pods,deployments
  get url /healthz,/version/
ns/in
  update core configmaps one,two
`)
  t.match(first, {
    kind: 'ClusterRole',
    metadata: { name: 'all', annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' } },
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-x': 'true' } }],
    },
    rules: null,
  })
  t.match(second?.metadata?.labels, {
    'kubernetes.io/bootstrapping': 'rbac-defaults',
    'rbac.authorization.k8s.io/aggregate-to-x': 'true',
  })
  t.same(second?.rules, [
    { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['pods', 'deployments'] },
    { verbs: ['get'], nonResourceURLs: ['/healthz', '/version/'] },
  ])
  t.match(third, { kind: 'Role', metadata: { namespace: 'ns', name: 'in' } })
  t.same(third?.rules, [
    { verbs: ['update'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['one', 'two'] },
  ])
  const [binding] = parseBindings('ns/b r user:system:u group:g account:kube-system/a')
  t.match(binding, {
    kind: 'RoleBinding',
    metadata: { namespace: 'ns', name: 'b' },
    roleRef: { kind: 'Role', name: 'r' },
    subjects: [
      { kind: 'User', name: 'system:u', apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'Group', name: 'g', apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'ServiceAccount', name: 'a', namespace: 'kube-system' },
    ],
  })
})

t.test('the policy: every binding leads to a role, every role has rules or gathers them', async (t) => {
  const policy = bootstrapPolicy()
  const clusterRoles = new Set(policy.clusterRoles.map((role) => role.metadata?.name))
  const roles = new Set(policy.roles.map((role) => `${role.metadata?.namespace}/${role.metadata?.name}`))
  t.equal(clusterRoles.size, policy.clusterRoles.length, 'no name twice')
  for (const name of [
    'cluster-admin',
    'admin',
    'edit',
    'view',
    'system:node',
    'system:kube-scheduler',
    'system:discovery',
  ])
    t.ok(clusterRoles.has(name), name)
  for (const { metadata, roleRef } of policy.clusterRoleBindings)
    t.ok(clusterRoles.has(roleRef.name), `${metadata?.name} binds ${roleRef.name}`)
  for (const { metadata, roleRef } of policy.roleBindings)
    t.ok(roles.has(`${metadata?.namespace}/${roleRef.name}`), `${metadata?.name} binds ${roleRef.name}`)
  for (const role of [...policy.clusterRoles, ...policy.roles])
    t.ok((role.rules?.length ?? 0) > 0 || role.aggregationRule !== undefined, role.metadata?.name ?? '')
})

t.test('what is missing is added, what somebody added stays, what is protected is left alone', async (t) => {
  const [expected] = parseRoles('r\n  get,list core pods\n  get core nodes')
  t.equal(reconcileRole(expected!, undefined).action, 'create')
  t.equal(reconcileRole(expected!, expected).action, 'none')
  const extra = { verbs: ['delete'], apiGroups: [''], resources: ['pods'] }
  const more = { ...expected!, rules: [...expected!.rules!, extra] }
  t.equal(reconcileRole(expected!, more).action, 'none')
  const fewer = { ...expected!, rules: [extra, { verbs: ['get'], apiGroups: [''], resources: ['pods'] }] }
  const outcome = reconcileRole(expected!, fewer)
  t.match(outcome, { action: 'update' })
  t.same('object' in outcome ? outcome.object.rules : [], [...fewer.rules, ...expected!.rules!])
  const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }
  t.equal(reconcileRole(expected!, { ...fewer, metadata: { ...expected!.metadata, annotations } }).action, 'protected')
  const unlabelled = { ...expected!, metadata: { name: 'r', labels: { own: 'x' } } }
  t.match(reconcileRole(expected!, unlabelled), {
    action: 'update',
    object: { metadata: { labels: { own: 'x', 'kubernetes.io/bootstrapping': 'rbac-defaults' } } },
  })
})

t.test('bindings: missing subjects are added; one that binds another role is made anew', async (t) => {
  const [expected] = parseBindings('b r user:a group:g')
  t.equal(reconcileBinding(expected!, expected).action, 'none')
  const other = { ...expected!, subjects: [{ kind: 'User', name: 'z', apiGroup: 'rbac.authorization.k8s.io' }] }
  const outcome = reconcileBinding(expected!, other)
  t.match(outcome, { action: 'update', object: { subjects: [{ name: 'z' }, { name: 'a' }, { name: 'g' }] } })
  const elsewhere = { ...expected!, roleRef: { ...expected!.roleRef, name: 'q' } }
  t.match(reconcileBinding(expected!, elsewhere), { action: 'recreate', object: { roleRef: { name: 'r' } } })
})

t.test('aggregated roles gather through each other, each rule once, and settle', async (t) => {
  const role = (name: string, labels: Record<string, string>, rules: unknown, gathers?: string) =>
    aggregatableRole({
      metadata: { name, labels },
      rules,
      ...(gathers === undefined
        ? {}
        : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [gathers]: 'true' } }] } }),
    })
  const a = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
  const b = { verbs: ['get'], apiGroups: [''], resources: ['nodes'] }
  const roles = [
    role('admin', {}, null, 'to-admin'),
    role('edit', { 'to-admin': 'true' }, null, 'to-edit'),
    role('part-1', { 'to-edit': 'true', 'to-admin': 'true' }, [a]),
    role('part-2', { 'to-edit': 'true' }, [b, a]),
  ]
  const changes = aggregate(roles)
  t.same([...changes.keys()].sort(), ['admin', 'edit'])
  t.match(changes.get('edit'), [a, b])
  t.match(changes.get('admin'), [a, b])
  const settled = roles.map((one) => ({ ...one, rules: changes.get(one.name) ?? one.rules }))
  t.equal(aggregate(settled).size, 0)
  const circle = [role('x', { 'to-y': 'true' }, [a], 'to-x'), role('y', { 'to-x': 'true' }, [b], 'to-y')]
  t.ok(aggregate(circle).size <= 2, 'a circle ends')
})

import t from 'tap'
import type { ClusterRole } from '#keelson/api/generated/kinds/rbac.v1.js'
import type { KubeObject } from '#keelson/api/object.js'
import { ApiClient } from '../support/api-client.js'
import { KeelsonProcess } from '../support/keelson-process.js'

const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
type Role = ClusterRole & KubeObject

t.test('aggregated cluster roles follow the roles that they select', async (t) => {
  const server = await KeelsonProcess.start(['--controllers=clusterrole-aggregation', '--authorization-mode=RBAC'])
  t.teardown(() => server.close())
  const api = new ApiClient(server)
  const rule = (resource: string) => ({ verbs: ['get'], apiGroups: ['example.com'], resources: [resource] })
  const hasRule = async (role: string, resource: string, is: boolean): Promise<Role> =>
    api.when<Role>(
      `${ROLES}/${role}`,
      `${role} ${is ? 'to have' : 'to lose'} ${resource}`,
      ({ rules }) => (rules ?? []).some(({ resources }) => resources?.includes(resource) === true) === is,
    )
  await api.create(ROLES, {
    metadata: { name: 'part', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    rules: [rule('widgets')],
  })
  // View is part of edit, and edit of admin.
  for (const name of ['view', 'edit', 'admin']) await hasRule(name, 'widgets', true)
  const { metadata } = await hasRule('view', 'widgets', true)
  t.ok(metadata?.managedFields?.some(({ manager }) => manager === 'clusterrole-aggregation-controller'))
  await api.merge(`${ROLES}/part`, { rules: [rule('gadgets')] })
  await hasRule('admin', 'gadgets', true)
  await hasRule('admin', 'widgets', false)
  await api.delete(`${ROLES}/part`)
  for (const name of ['view', 'edit', 'admin']) await hasRule(name, 'gadgets', false)
})

t.test('without controllers the default roles are filled when the server starts', async (t) => {
  const server = await KeelsonProcess.start(['--controllers=-*'])
  t.teardown(() => server.close())
  const { rules } = (await new ApiClient(server).get<Role>(`${ROLES}/view`))!
  t.ok((rules?.length ?? 0) > 5)
})

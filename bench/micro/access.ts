/**
 * Question: what does a decision about access cost the thread that takes it? Workload: the default roles and bindings, and
 * 1,000 namespaces with three bindings each, in real shared memory; microseconds of CPU a decision, each after a look at
 * the clock. "after a change": a role was written since the last decision.
 */
import { recordDraft } from '#keelson/api/json/record-scan.js'
import { bootstrapPolicy } from '#keelson/auth/authz/bootstrap/bootstrap-policy.js'
import { openAuthorizer } from '#keelson/auth/authz/open-authorizer.js'
import type { Attributes } from '#keelson/auth/interface.js'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import type { ArenaWriter } from '#keelson/cacher/memory/shared-memory.js'
import { systemClock } from '#keelson/lib/clock.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { noRecorder } from '#keelson/metrics/recorder.js'
import { cpuTime } from './cpu-time.js'

const GROUP = 'rbac.authorization.k8s.io'
const NAMESPACES = 1000

interface Named {
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
}

export async function run(): Promise<{ name: string; figure: string; note?: string }[]> {
  const owner = new MemoryOwner()
  const reader = owner.localReader()
  const arenas = new Map<string, ArenaWriter>()
  let revision = 0
  const put = (resource: string, object: Named): void => {
    const { name = '', namespace = '' } = object.metadata ?? {}
    const arena = arenas.get(resource)!
    revision++
    const body = Buffer.from(JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: '' } }))
    arena.put(`/registry/${resource}/${namespace}/${name}`, recordDraft(body, []), revision, revision)
    arena.publish(revision)
    owner.clock.advance(revision)
  }
  for (const resource of ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']) {
    const arena = owner.createArena(`${resource}.${GROUP}`, {})
    arena.setReady(true)
    arenas.set(resource, arena)
  }
  const policy = bootstrapPolicy()
  for (const object of policy.clusterRoles) put('clusterroles', object)
  for (const object of policy.roles) put('roles', object)
  for (const object of policy.clusterRoleBindings) put('clusterrolebindings', object)
  for (const object of policy.roleBindings) put('rolebindings', object)
  const aggregated = policy.clusterRoles.find(({ metadata }) => metadata?.name === 'system:aggregate-to-edit')!
  put('clusterroles', { ...aggregated, metadata: { name: 'edit' } })
  for (let i = 0; i < NAMESPACES; i++) {
    const namespace = `ns-${i}`
    for (const [name, subject] of [
      ['user', { kind: 'User', name: `user-${i}` }],
      ['team', { kind: 'Group', name: `team-${i % 20}` }],
      ['robot', { kind: 'ServiceAccount', name: 'robot' }],
    ] as const) {
      const roleRef = { apiGroup: GROUP, kind: 'ClusterRole', name: 'edit' }
      put('rolebindings', { metadata: { namespace, name }, subjects: [subject], roleRef } as Named)
    }
  }
  const { authorizer } = openAuthorizer({
    config: { authorizers: [{ type: 'RBAC', name: 'rbac' }], alwaysAllowPaths: [] },
    cache: (resource) => ({ clock: reader.clock, known: () => reader.arena(resource) }),
    clock: systemClock,
    random: Math.random,
    recorder: noRecorder(),
    logger: nullLogger,
  })
  const ask = (user: string, groups: readonly string[], what: Partial<Attributes>) => {
    const attributes: Attributes = {
      user: { name: user, uid: '', groups: [...groups, 'system:authenticated'], extra: {} },
      verb: 'get',
      isResourceRequest: what.path === undefined,
      namespace: '',
      apiGroup: '',
      apiVersion: 'v1',
      resource: 'pods',
      subresource: '',
      name: 'x',
      path: '',
      ...what,
    }
    return () => authorizer.authorize(attributes)
  }
  const scheduler = ask('system:kube-scheduler', [], {
    verb: 'watch',
    apiGroup: 'storage.k8s.io',
    resource: 'csinodes',
  })
  const rows: readonly [string, () => unknown][] = [
    ['system:masters', ask('admin', ['system:masters'], {})],
    ['a user’s role in a namespace', ask('user-7', [], { namespace: 'ns-7', verb: 'create' })],
    ['a group’s role, three groups', ask('u', ['a', 'b', 'team-7'], { namespace: 'ns-7' })],
    [
      'a service account, list of secrets',
      ask('system:serviceaccount:ns-9:robot', ['system:serviceaccounts'], {
        namespace: 'ns-9',
        verb: 'list',
        resource: 'secrets',
      }),
    ],
    ['the scheduler, two cluster roles of 25 rules', scheduler],
    ['a path', ask('u', [], { path: '/openapi/v3/apis/apps/v1' })],
    ['no: nothing is bound', ask('nobody', ['x', 'y'], { namespace: 'ns-5' })],
    ['no: nothing that is bound allows it', ask('user-7', [], { namespace: 'ns-7', resource: 'nodes' })],
  ]
  const figures = rows.map(([name, work]) => ({ name: `decision: ${name}`, figure: `${cpuTime(work).toFixed(2)} µs` }))
  const last = rows[2]![1]
  const changing = cpuTime(() => {
    put('clusterroles', { metadata: { name: 'edit' }, rules: aggregated.rules } as Named)
    return last()
  })
  const writing = cpuTime(() => put('clusterroles', { metadata: { name: 'other' }, rules: aggregated.rules } as Named))
  return [
    ...figures,
    { name: 'decision: after a change of a role of 16 rules', figure: `${(changing - writing).toFixed(1)} µs` },
  ]
}

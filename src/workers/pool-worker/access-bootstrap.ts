/**
 * Thread: pool. Brings the roles and bindings that every server has into storage: at the first start it writes them all at
 * once, so that the engine commits them together; later it reads, and writes only what is missing.
 */

import { type KubeObject, metadataOf } from '../../api/object.js'
import type { RequestInfo } from '../../api/request-info.js'
import { API_SERVER_USER } from '../../api/user-info.js'
import { aggregatableRole, aggregate, ruleObject } from '../../auth/authz/aggregation.js'
import type { BootstrapPolicy } from '../../auth/authz/bootstrap/bootstrap-policy.js'
import type { BindingObject, RoleObject } from '../../auth/authz/bootstrap/policy-text.js'
import { type Reconciled, reconcileBinding, reconcileRole } from '../../auth/authz/bootstrap/reconcile.js'
import { RBAC_GROUP } from '../../auth/authz/rbac-index.js'
import { lookupTable } from '../../lib/lookup-table.js'
import type { AccessReport, EncodedResponse, PoolRequest } from '../../protocol/main-pool.js'
import type { ObjectLookup } from './object-lookup.js'

const VERSION = 'v1'
const DEADLINE_MS = 60_000
/** The manager that Kubernetes names for these objects. */
const MANAGER = 'kube-apiserver'
const AGGREGATION_MANAGER = 'clusterrole-aggregation-controller'

export interface AccessBootstrapOptions {
  readonly lookup: ObjectLookup
  readonly policy: BootstrapPolicy
  readonly now: () => number
  write(request: PoolRequest): Promise<EncodedResponse>
}

type Resource = 'clusterroles' | 'clusterrolebindings' | 'roles' | 'rolebindings'

export class AccessBootstrap {
  readonly #options: AccessBootstrapOptions
  readonly #report = { created: 0, updated: 0, protected: [] as string[], failed: [] as string[] }

  constructor(options: AccessBootstrapOptions) {
    this.#options = options
  }

  /** Roles are written before the bindings, so that nobody ever sees a binding that leads nowhere. */
  async run(): Promise<AccessReport> {
    const { policy } = this.#options
    await Promise.all([
      this.#all('clusterroles', policy.clusterRoles, reconcileRole),
      this.#all('roles', policy.roles, reconcileRole),
    ])
    await Promise.all([
      this.#all('clusterrolebindings', policy.clusterRoleBindings, reconcileBinding),
      this.#all('rolebindings', policy.roleBindings, reconcileBinding),
      this.#aggregate(),
    ])
    return this.#report
  }

  async #all<T extends RoleObject | BindingObject>(
    resource: Resource,
    expected: readonly T[],
    reconcile: (expected: T, existing: T | undefined) => Reconciled<T>,
  ): Promise<void> {
    const stored = await this.#options.lookup.listLive({ group: RBAC_GROUP, version: VERSION, resource }, '')
    const existing = new Map(stored.map((object) => [placeOf(object), object]))
    await Promise.all(
      expected.map((object) =>
        this.#apply(resource, placeOf(object), reconcile(object, existing.get(placeOf(object)) as T | undefined)),
      ),
    )
  }

  async #apply<T extends KubeObject>(resource: Resource, place: string, outcome: Reconciled<T>): Promise<void> {
    if (outcome.action === 'none') return
    if (outcome.action === 'protected') {
      this.#report.protected.push(`${resource}/${place}`)
      return
    }
    const { action, object } = outcome
    const { name = '' } = metadataOf(object)
    if (action === 'recreate') await this.#write('DELETE', resource, object, name)
    const status =
      action === 'update'
        ? await this.#write('PUT', resource, object, name)
        : await this.#write('POST', resource, object, '')
    // With 409 a peer was faster.
    if (status === 201) this.#report.created++
    else if (status === 200) this.#report.updated++
    else if (status !== 409) this.#report.failed.push(`${resource}/${place}: ${status}`)
  }

  async #aggregate(): Promise<void> {
    const resource = { group: RBAC_GROUP, version: VERSION, resource: 'clusterroles' }
    const roles = (await this.#options.lookup.listLive(resource, '')).map(aggregatableRole)
    const changes = [...aggregate(roles)]
    await Promise.all(
      changes.map(async ([name, rules]) => {
        const status = await this.#options.write(
          aggregationRequest(name, rules.map(ruleObject), this.#options.now() + DEADLINE_MS),
        )
        if (status.status !== 200) this.#report.failed.push(`clusterroles/${name}: ${status.status}`)
      }),
    )
  }

  async #write(method: string, resource: Resource, object: KubeObject, name: string): Promise<number> {
    const { namespace = '' } = metadataOf(object)
    const body = method === 'DELETE' ? '' : JSON.stringify(object)
    const request = serverRequest(method, { resource, namespace, name }, body, this.#options.now() + DEADLINE_MS)
    return (await this.#options.write(request)).status
  }
}

const placeOf = (object: KubeObject): string => {
  const { namespace = '', name = '' } = metadataOf(object)
  return namespace === '' ? name : `${namespace}/${name}`
}

const VERBS: Readonly<Record<string, string>> = lookupTable({
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
})

function serverRequest(
  method: string,
  { resource, namespace, name }: Pick<RequestInfo, 'resource' | 'namespace' | 'name'>,
  body: string,
  deadlineMs: number,
): PoolRequest {
  const scope = namespace === '' ? '' : `/namespaces/${namespace}`
  const parts = name === '' ? [resource] : [resource, name]
  return {
    info: {
      isResourceRequest: true,
      path: `/apis/${RBAC_GROUP}/${VERSION}${scope}/${parts.join('/')}`,
      verb: VERBS[method]!,
      apiPrefix: 'apis',
      apiGroup: RBAC_GROUP,
      apiVersion: VERSION,
      namespace,
      resource,
      subresource: '',
      name,
      parts,
    },
    method,
    query: '',
    user: API_SERVER_USER,
    accept: 'application/json',
    contentType: 'application/json',
    userAgent: MANAGER,
    body: Buffer.from(body),
    auditId: `bootstrap-${resource}-${name}`,
    deadlineMs,
  }
}

/** Sets the rules of one aggregated role, and nothing else of it. */
function aggregationRequest(name: string, rules: readonly object[], deadlineMs: number): PoolRequest {
  const object = { apiVersion: `${RBAC_GROUP}/${VERSION}`, kind: 'ClusterRole', metadata: { name }, rules }
  return {
    ...serverRequest('PATCH', { resource: 'clusterroles', namespace: '', name }, JSON.stringify(object), deadlineMs),
    query: `fieldManager=${AGGREGATION_MANAGER}&force=true`,
    contentType: 'application/apply-patch+yaml',
  }
}

/** Thread: pool. A namespace uses no more than its quotas let it; see quota-ledger.ts for how that is kept true. */
import type {
  ResourceQuota as ResourceQuotaKind,
  ScopedResourceSelectorRequirement,
} from '../../../api/generated/kinds/core.v1.js'
import type { GroupResource } from '../../../api/group-version.js'
import type { JsonObject, KubeObject } from '../../../api/object.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../../chain.js'
import { forbid } from '../../forbid.js'
import { type AdmissionObjects, RESOURCE_QUOTAS } from '../../objects.js'
import { addUsage, counted, NO_USAGE, negated, type Usage, usageOf } from './quota.js'
import type { QuotaLedger } from './quota-ledger.js'
import { matchesScopes } from './scopes.js'
import { hasEnded, unstated, usageOfObject } from './usage.js'

/** Resources that leave nothing behind (questions and commands), and events, which nobody counts. */
const IGNORED: ReadonlySet<string> = new Set(['/bindings', '/events', 'events.k8s.io/events'])
const IGNORED_GROUPS: ReadonlySet<string> = new Set(['authorization.k8s.io', 'authentication.k8s.io'])
/** Resources of which an object can use more after it was made. */
const GROWING: ReadonlySet<string> = new Set(['services', 'persistentvolumeclaims'])

interface LimitedResource {
  readonly apiGroup?: string
  readonly resource?: string
  readonly matchContains?: readonly string[]
  readonly matchScopes?: readonly ScopedResourceSelectorRequirement[]
}

export function resourceQuotaErrors(config: JsonObject): string[] {
  const limited = config['limitedResources'] ?? []
  if (!Array.isArray(limited)) return ['ResourceQuota: limitedResources must be a list']
  return limited.flatMap((entry, i) =>
    String((entry as JsonObject | null)?.['resource'] ?? '') === ''
      ? [`ResourceQuota: limitedResources[${i}].resource must be given`]
      : [],
  )
}

export class ResourceQuota implements AdmissionPlugin {
  readonly name = 'ResourceQuota'
  readonly #objects: AdmissionObjects
  readonly #ledger: QuotaLedger
  readonly #limited: readonly LimitedResource[]

  constructor(objects: AdmissionObjects, ledger: QuotaLedger, config: JsonObject = {}) {
    this.#objects = objects
    this.#ledger = ledger
    this.#limited = (config['limitedResources'] ?? []) as unknown as LimitedResource[]
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    if (IGNORED.has(`${resource.group}/${resource.resource}`) || IGNORED_GROUPS.has(resource.group)) return false
    if (operation === 'CREATE') return subresource === ''
    if (operation !== 'UPDATE' || resource.group !== '') return false
    if (resource.resource === 'pods') return subresource === 'resize' || subresource === 'status'
    return subresource === '' && GROWING.has(resource.resource)
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    const { namespace, resource } = attributes
    // Quotas are for what is in a namespace, and a namespace is not.
    if (namespace === '' || (resource.group === '' && resource.resource === 'namespaces')) return
    const quotas = this.#objects.list(RESOURCE_QUOTAS, namespace)
    if (quotas instanceof Promise) return quotas.then((found) => this.#check(attributes, found))
    if (quotas.length > 0 || this.#limited.length > 0) return this.#check(attributes, quotas)
  }

  /** Gives back what the deleted object used. */
  async deleted(resource: GroupResource, object: KubeObject): Promise<void> {
    const { namespace = '' } = object.metadata ?? {}
    if (namespace === '' || IGNORED.has(`${resource.group}/${resource.resource}`)) return
    const quotas = await this.#objects.list(RESOURCE_QUOTAS, namespace)
    for (const quota of quotas) {
      if (quota.status?.used === undefined || !matchesScopes(quota, resource.resource, object)) continue
      const freed = counted(usageOfObject(resource, object), quota.spec?.hard ?? {})
      if (freed.size > 0) await this.#ledger.charge(quota, negated(freed))
    }
  }

  async #check(attributes: AdmissionAttributes, quotas: readonly ResourceQuotaKind[]): Promise<void> {
    const { object, oldObject, operation, resource, subresource, dryRun } = attributes
    if (object === undefined) return
    if (subresource === 'status' && (!hasEnded(object) || hasEnded(oldObject ?? {}))) return
    if (operation === 'CREATE') this.#refuseUncovered(attributes, quotas)
    const taken: [ResourceQuotaKind, Usage][] = []
    for (const quota of quotas) {
      const hard = quota.spec?.hard ?? {}
      const use = (one: KubeObject | undefined): Usage =>
        one !== undefined && matchesScopes(quota, resource.resource, one) ? usageOfObject(resource, one) : NO_USAGE
      if (operation === 'CREATE' && resource.group === '' && resource.resource === 'pods' && use(object).size > 0)
        this.#refuseUnstated(attributes, quota)
      const delta = counted(addUsage(use(object), negated(use(oldObject))), hard)
      if (delta.size === 0) continue
      const refusal = dryRun ? wouldExceed(quota, delta) : await this.#ledger.charge(quota, delta)
      if (refusal !== '') {
        for (const [other, amount] of taken) await this.#ledger.charge(other, negated(amount))
        throw forbid(attributes, refusal)
      }
      if (!dryRun) taken.push([quota, delta])
    }
    if (taken.length === 0) return
    attributes.onOutcome(async (succeeded) => {
      if (!succeeded) for (const [quota, amount] of taken) await this.#ledger.charge(quota, negated(amount))
    })
  }

  #refuseUnstated(attributes: AdmissionAttributes, quota: ResourceQuotaKind): void {
    const missing = unstated(attributes.object ?? {}, quota.spec?.hard ?? {})
    if (missing.length > 0)
      throw forbid(attributes, `failed quota: ${quota.metadata?.name}: must specify ${missing.join('; ')}`)
  }

  /** Refuses objects that use resources which the configuration limits, where no quota counts them. */
  #refuseUncovered(attributes: AdmissionAttributes, quotas: readonly ResourceQuotaKind[]): void {
    const { resource, object = {} } = attributes
    for (const limited of this.#limited) {
      if ((limited.apiGroup ?? '') !== resource.group || limited.resource !== resource.resource) continue
      const names = [...usageOfObject(resource, object).keys()].filter((name) =>
        (limited.matchContains ?? []).some((part) => name.includes(part)),
      )
      const covering = quotas.filter((quota) => matchesScopes(quota, resource.resource, object))
      const uncovered = names.filter((name) => !covering.some((quota) => quota.spec?.hard?.[name] !== undefined))
      if (uncovered.length > 0) throw forbid(attributes, `insufficient quota to consume: ${uncovered.sort().join(',')}`)
      const scopes = limited.matchScopes ?? []
      const inScope = scopes.filter((scope) =>
        matchesScopes({ spec: { scopeSelector: { matchExpressions: [scope] } } }, resource.resource, object),
      )
      const open = inScope.filter((scope) => !covering.some((quota) => hasScope(quota, scope.scopeName ?? '')))
      if (open.length > 0)
        throw forbid(
          attributes,
          `insufficient quota to match these scopes: [${open.map(({ scopeName }) => scopeName).join(' ')}]`,
        )
    }
  }
}

const hasScope = ({ spec }: ResourceQuotaKind, name: string): boolean =>
  spec?.scopes?.includes(name) === true ||
  spec?.scopeSelector?.matchExpressions?.some(({ scopeName }) => scopeName === name) === true

/** What a dry run would exceed, by what the status says now. */
function wouldExceed(quota: ResourceQuotaKind, delta: Usage): string {
  const [hard, used] = [usageOf(quota.spec?.hard ?? {}), usageOf(quota.status?.used ?? {})]
  const over = [...addUsage(used, delta)].filter(
    ([name, amount]) => (delta.get(name)?.sign ?? 0) > 0 && hard.has(name) && amount.compare(hard.get(name)!) > 0,
  )
  return over.length === 0
    ? ''
    : `exceeded quota: ${quota.metadata?.name}: ${over
        .map(([name]) => name)
        .sort()
        .join(',')}`
}

/** Thread: pool. ResourceQuotas: how much a namespace may use, of what, and counted over which objects. */

import { FieldPath, invalid, required } from '../../../api/field-error.js'
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../../api/generated/kinds/core.v1.js'
import type { Errors } from '../../../api/validation/checks.js'
import { IMMUTABLE } from '../../../api/validation/object-meta.js'
import {
  isQuotaResource,
  quantityOf,
  quotaResourceName,
  type ResourceList,
  resourceQuantity,
} from '../../../api/validation/quantities.js'
import { lookupTable } from '../../../lib/lookup-table.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

const SPEC = FieldPath.of('spec')
const POD_RESOURCES = new Set([
  'pods',
  'cpu',
  'memory',
  'limits.cpu',
  'limits.memory',
  'requests.cpu',
  'requests.memory',
])
/** Which resources each scope can count. */
const SCOPES: Readonly<Record<string, ReadonlySet<string>>> = lookupTable({
  Terminating: POD_RESOURCES,
  NotTerminating: POD_RESOURCES,
  BestEffort: new Set(['pods']),
  NotBestEffort: POD_RESOURCES,
  PriorityClass: POD_RESOURCES,
  CrossNamespacePodAffinity: POD_RESOURCES,
  VolumeAttributesClass: new Set(['persistentvolumeclaims', 'requests.storage']),
})
const EXISTS_ONLY = ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity']
const CONFLICTS = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const

const listErrors = (list: ResourceList | undefined, path: FieldPath): Errors =>
  Object.entries(list ?? {}).flatMap(([name, amount]) => [
    ...quotaResourceName(name, path.key(name)),
    ...resourceQuantity(name, amount, path.key(name)),
  ])

function conflictErrors(scopes: readonly string[], path: FieldPath): Errors {
  const both = CONFLICTS.filter((pair) => pair.every((scope) => scopes.includes(scope)))
  return both.map(() => invalid(path, scopes, 'conflicting scopes'))
}

/** One error for every resource that the scope cannot count. */
function scopeErrors(scope: string, hard: ResourceList | undefined, path: FieldPath, unknown: FieldPath): Errors {
  const counted = Object.hasOwn(SCOPES, scope) ? SCOPES[scope] : undefined
  if (counted === undefined) return [invalid(unknown, scope, 'unsupported scope')]
  const wrong = Object.keys(hard ?? {}).filter((name) => isQuotaResource(name) && !counted.has(name))
  return wrong.map(() => invalid(path, scope, 'unsupported scope applied to resource'))
}

function requirementErrors(
  { scopeName = '', operator = '', values }: ScopedResourceSelectorRequirement,
  path: FieldPath,
): Errors {
  const errors: Errors = []
  const count = values?.length ?? 0
  if (EXISTS_ONLY.includes(scopeName) && operator !== 'Exists')
    errors.push(invalid(path.child('operator'), operator, `must be 'Exists' for scope ${scopeName}`))
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) errors.push(required(path.child('values'), 'In and NotIn need values'))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) errors.push(invalid(path.child('values'), values, 'Exists and DoesNotExist take no values'))
  } else errors.push(invalid(path.child('operator'), operator, 'not a valid selector operator'))
  return errors
}

function specErrors(object: ResourceQuota): Errors {
  const { hard, scopes, scopeSelector } = object.spec ?? {}
  const [scopesPath, selectorPath] = [SPEC.child('scopes'), SPEC.child('scopeSelector', 'matchExpressions')]
  const requirements = scopeSelector?.matchExpressions ?? []
  return [
    ...listErrors(hard, SPEC.child('hard')),
    ...(scopes ?? []).flatMap((scope) => scopeErrors(scope, hard, scopesPath, scopesPath)),
    ...conflictErrors(scopes ?? [], scopesPath),
    ...requirements.flatMap((requirement) => [
      ...scopeErrors(requirement.scopeName ?? '', hard, selectorPath, selectorPath.child('scopeName')),
      ...requirementErrors(requirement, selectorPath),
    ]),
    ...conflictErrors(
      requirements.map(({ scopeName = '' }) => scopeName),
      selectorPath,
    ),
  ]
}

const statusErrors = (object: ResourceQuota): Errors =>
  (['hard', 'used'] as const).flatMap((field) => listErrors(object.status?.[field], FieldPath.of('status', field)))

function warnings(object: ResourceQuota): string[] {
  const hard = object.spec?.hard ?? {}
  return ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => {
    const [request, limit] = [hard[`requests.${name}`] ?? hard[name], hard[`limits.${name}`]]
    if (request === undefined || limit === undefined || quantityOf(request).compare(quantityOf(limit)) <= 0) return []
    return [`ResourceQuota requests.${name} (${request}) should be less than limits.${name} (${limit})`]
  })
}

/** name: used/hard, of what is limited or of what is requested. */
function usage({ status }: ResourceQuota, limits: boolean): string {
  return Object.keys(status?.hard ?? {})
    .filter((name) => name.startsWith('limits.') === limits)
    .sort()
    .map((name) => `${name}: ${status?.used?.[name] ?? '0'}/${status?.hard?.[name]}`)
    .join(', ')
}

export const resourceQuotaRules: ResourceRules<ResourceQuota> = {
  returnDeletedObject: true,
  metadataOnUpdate: 'changes',
  validate: (object) => [...specErrors(object), ...statusErrors(object)],
  validateUpdate: (object, old) => {
    const [now, before] = [object, old].map((item) => new Set(item.spec?.scopes ?? []))
    const same = now!.size === before!.size && [...now!].every((scope) => before!.has(scope))
    return [...specErrors(object), ...(same ? [] : [invalid(SPEC.child('scopes'), [...now!], IMMUTABLE)])]
  },
  warningsOnCreate: warnings,
  status: { validateUpdate: statusErrors },
  table: tableOf<ResourceQuota>(
    text('Request', 'What is requested, of what may be.', (object) => usage(object, false)),
    text('Limit', 'What is limited, of what may be.', (object) => usage(object, true)),
    age(),
  ),
}

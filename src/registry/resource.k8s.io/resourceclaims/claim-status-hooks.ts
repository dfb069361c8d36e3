/**
 * Thread: pool. Who may write the status of a claim may not write all of it: what is allocated and to whom takes the right
 * to `resourceclaims/binding` everywhere, what is said of devices the right to `resourceclaims/driver` of their driver.
 */

import { isDeepStrictEqual } from 'node:util'
import { type FieldError, FieldPath, forbidden } from '../../../api/field-error.js'
import type { ResourceClaim, ResourceClaimStatus } from '../../../api/generated/kinds/resource.v1.js'
import { metadataOf } from '../../../api/object.js'
import { newInvalid } from '../../../api/status.js'
import { sameValue } from '../../../api/validation/checks.js'
import { NODE_NAME } from '../../../auth/authn/service-account.js'
import type { Attributes, Authorizer } from '../../../auth/interface.js'
import type { RegistryStoreHooks } from '../../generic/registry-store-options.js'
import type { RequestContext } from '../../generic/strategy.js'
import { isAdminNamespace, type NamespaceReader } from './admin-access-hooks.js'
import { deviceId, dropReturnedDevices, nodeOfAllocation } from './claim-status.js'

export interface ClaimStatusOptions {
  readonly authorizer: Authorizer
  readonly namespace: NamespaceReader
}

const STATUS = FieldPath.of('status')
const NOTHING_TAKEN = (): void => undefined
const statusOf = (claim: ResourceClaim): ResourceClaimStatus => structuredClone(claim.status ?? {})

export function claimStatusHooks(options: ClaimStatusOptions): RegistryStoreHooks<ResourceClaim> {
  return {
    beginStatusUpdate: async (object, old, context) => {
      const [status, before] = [statusOf(object), statusOf(old)]
      dropReturnedDevices(status, before)
      const errors = [
        ...(await adminErrors(status, before, context, options)),
        ...(await bindingErrors(status, before, context, options)),
        ...(await driverErrors(status, before, context, options)),
      ]
      if (errors.length === 0) return NOTHING_TAKEN
      throw newInvalid({ group: context.apiGroup, kind: 'ResourceClaim' }, metadataOf(object).name ?? '', errors)
    },
  }
}

async function adminErrors(
  status: ResourceClaimStatus,
  before: ResourceClaimStatus,
  context: RequestContext,
  options: ClaimStatusOptions,
): Promise<FieldError[]> {
  const granted = ({ allocation }: ResourceClaimStatus): number =>
    (allocation?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess === true)
  const i = granted(status)
  if (i < 0 || granted(before) >= 0 || (await isAdminNamespace(context.namespace, options.namespace))) return []
  const path = STATUS.child('allocation', 'devices', 'results').index(i).child('adminAccess')
  return [forbidden(path, 'the namespace does not allow admin access')]
}

async function bindingErrors(
  status: ResourceClaimStatus,
  before: ResourceClaimStatus,
  context: RequestContext,
  { authorizer }: ClaimStatusOptions,
): Promise<FieldError[]> {
  if (sameValue(status.allocation, before.allocation) && sameValue(status.reservedFor, before.reservedFor)) return []
  const what = { verb: context.verb, subresource: 'binding', namespace: '', name: '' }
  if (await may(authorizer, context, what)) return []
  return [forbidden(STATUS.child('allocation'), `needs the right to ${context.verb} resourceclaims/binding`)]
}

async function driverErrors(
  status: ResourceClaimStatus,
  before: ResourceClaimStatus,
  context: RequestContext,
  { authorizer }: ClaimStatusOptions,
): Promise<FieldError[]> {
  if (!status.allocation) return []
  const nodeNames = context.user.extra[NODE_NAME] ?? []
  const near =
    context.user.name.startsWith('system:serviceaccount:') &&
    nodeNames.length === 1 &&
    nodeNames[0] === nodeOfAllocation(status.allocation)
  const verbs = [...(near ? ['associated-node'] : []), 'arbitrary-node'].map((where) => `${where}:${context.verb}`)
  const errors: FieldError[] = []
  for (const name of changedDrivers(status, before)) {
    let allowed = false
    for (const verb of verbs) {
      const what = { verb, subresource: 'driver', namespace: context.namespace, name }
      allowed ||= await may(authorizer, context, what)
    }
    if (!allowed)
      errors.push(forbidden(STATUS.child('devices'), `needs the right to ${verbs[0]} resourceclaims/driver`))
  }
  return errors
}

/** Those of whose devices something else is said than before. */
function changedDrivers({ devices }: ResourceClaimStatus, before: ResourceClaimStatus): string[] {
  const old = new Map((before.devices ?? []).map((device) => [deviceId(device), device]))
  const drivers = new Set<string>()
  for (const device of devices ?? []) {
    if (!isDeepStrictEqual(old.get(deviceId(device)), device)) drivers.add(device.driver ?? '')
    old.delete(deviceId(device))
  }
  for (const { driver = '' } of old.values()) drivers.add(driver)
  return [...drivers].sort()
}

async function may(
  authorizer: Authorizer,
  context: RequestContext,
  what: Pick<Attributes, 'verb' | 'subresource' | 'namespace' | 'name'>,
): Promise<boolean> {
  const { decision } = await authorizer.authorize({
    user: context.user,
    isResourceRequest: true,
    apiGroup: context.apiGroup,
    apiVersion: context.apiVersion,
    resource: context.resource,
    path: '',
    ...what,
  })
  return decision === 'allow'
}

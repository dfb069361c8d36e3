/** Thread: pool. ResourceClaims and their templates: the wish for devices, which never changes. */
import { FieldPath } from '../../../api/field-error.js'
import type { KubeObject } from '../../../api/object.js'
import { immutable } from '../../../api/validation/checks.js'
import { validateAnnotations, validateLabels } from '../../../api/validation/object-meta.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { claimsV1beta1, claimTemplatesV1beta1, V1BETA1 } from '../conversion.js'
import { type DeviceClaim, deviceClaimErrors, setClaimDefaults } from './device-claim.js'

interface ResourceClaim extends KubeObject {
  spec?: { devices?: DeviceClaim }
  status?: { allocation?: object; reservedFor?: unknown[] }
}

interface ResourceClaimTemplate extends KubeObject {
  spec?: {
    metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }
    spec?: ResourceClaim['spec']
  }
}

const SPEC = FieldPath.of('spec')

function stateText({ metadata, status }: ResourceClaim): string {
  const states: string[] = []
  if (metadata?.deletionTimestamp !== undefined) states.push('deleted')
  if (status?.allocation) states.push('allocated')
  if ((status?.reservedFor?.length ?? 0) > 0) states.push('reserved')
  return states.length === 0 ? 'pending' : states.join(',')
}

const claimErrors = (object: KubeObject) =>
  deviceClaimErrors((object as ResourceClaim).spec?.devices ?? {}, SPEC.child('devices'))

export const resourceClaimRules: ResourceRules = {
  returnDeletedObject: true,
  metadataOnUpdate: 'changes',
  conversions: { [V1BETA1]: claimsV1beta1 },
  setDefaults: (object) => setClaimDefaults((object as ResourceClaim).spec?.devices ?? {}),
  validate: claimErrors,
  validateUpdate: (object, old) => [...immutable(object['spec'], old['spec'], SPEC), ...claimErrors(object)],
  table: tableOf<ResourceClaim>(text('State', 'Whether it is allocated, reserved or going away.', stateText), age()),
}

const templateErrors = (object: KubeObject) => {
  const { spec = {} } = object as ResourceClaimTemplate
  const metadata = SPEC.child('metadata')
  return [
    ...validateLabels(spec.metadata?.labels, metadata.child('labels')),
    ...validateAnnotations(spec.metadata?.annotations, metadata.child('annotations')),
    ...deviceClaimErrors(spec.spec?.devices ?? {}, SPEC.child('spec', 'devices')),
  ]
}

export const resourceClaimTemplateRules: ResourceRules = {
  returnDeletedObject: true,
  conversions: { [V1BETA1]: claimTemplatesV1beta1 },
  setDefaults: (object) => setClaimDefaults((object as ResourceClaimTemplate).spec?.spec?.devices ?? {}),
  validate: templateErrors,
  validateUpdate: (object, old) => [...templateErrors(object), ...immutable(object['spec'], old['spec'], SPEC)],
  table: tableOf<ResourceClaimTemplate>(age()),
}

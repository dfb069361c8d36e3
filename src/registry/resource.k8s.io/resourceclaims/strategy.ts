/** Thread: pool. ResourceClaims and their templates: the wish for devices, which never changes. */
import { FieldPath } from '../../../api/field-error.js'
import type { KubeObject } from '../../../api/object.js'
import { immutable } from '../../../api/validation/checks.js'
import { validateAnnotations, validateLabels, validateObjectMetaUpdate } from '../../../api/validation/object-meta.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { keepMetadata } from '../../generic/rules-strategy.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { claimsV1beta1, claimTemplatesV1beta1, V1BETA1 } from '../conversion.js'
import { type ClaimStatus, claimStatusErrors, dropReturnedDevices, setClaimStatusDefaults } from './claim-status.js'
import { type DeviceClaim, deviceClaimErrors, requestNames, setClaimDefaults } from './device-claim.js'

interface ResourceClaim extends KubeObject {
  spec?: { devices?: DeviceClaim }
  status?: ClaimStatus
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
  if (status?.allocation) {
    states.push('allocated')
    if ((status.reservedFor?.length ?? 0) > 0) states.push('reserved')
  }
  return states.length === 0 ? 'pending' : states.join(',')
}

export const resourceClaimRules: ResourceRules = {
  returnDeletedObject: true,
  conversions: { [V1BETA1]: claimsV1beta1 },
  setDefaults: (object) => {
    const { spec, status } = object as ResourceClaim
    setClaimDefaults(spec?.devices ?? {})
    setClaimStatusDefaults(status ?? {})
  },
  validate: (object) => deviceClaimErrors((object as ResourceClaim).spec?.devices ?? {}, SPEC.child('devices')),
  // Whoever changes the spec learns that they may not, and nothing of what they changed it to.
  validateUpdate: (object, old) => immutable(object['spec'], old['spec'], SPEC),
  status: {
    resetFields: [['metadata'], ['spec']],
    prepareForUpdate: (object, old) => {
      keepMetadata(object, old)
      dropReturnedDevices((object as ResourceClaim).status ?? {}, (old as ResourceClaim).status ?? {})
    },
    validateUpdate: (object, old) => {
      const { metadata = {}, spec, status } = object as ResourceClaim
      const claim = {
        requests: requestNames(spec?.devices ?? {}),
        beingDeleted: metadata.deletionTimestamp !== undefined,
      }
      return [
        ...validateObjectMetaUpdate(metadata, old.metadata ?? {}),
        ...claimStatusErrors(status ?? {}, (old as ResourceClaim).status ?? {}, claim, FieldPath.of('status')),
      ]
    },
  },
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

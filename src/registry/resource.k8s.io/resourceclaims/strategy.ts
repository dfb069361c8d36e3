/** Thread: pool. ResourceClaims and their templates: the wish for devices, which never changes. */

import { FieldPath } from '../../../api/field-error.js'
import type { ResourceClaim, ResourceClaimTemplate } from '../../../api/generated/kinds/resource.v1.js'
import { immutable } from '../../../api/validation/checks.js'
import { validateAnnotations, validateLabels, validateObjectMetaUpdate } from '../../../api/validation/object-meta.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { keepMetadata } from '../../generic/rules-strategy.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { claimsV1beta1, claimTemplatesV1beta1, V1BETA1 } from '../conversion.js'
import { claimStatusErrors, dropReturnedDevices, setClaimStatusDefaults } from './claim-status.js'
import { deviceClaimErrors, requestNames, setClaimDefaults } from './device-claim.js'

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

export const resourceClaimRules: ResourceRules<ResourceClaim> = {
  returnDeletedObject: true,
  conversions: { [V1BETA1]: claimsV1beta1 },
  setDefaults: (object) => {
    const { spec, status } = object
    setClaimDefaults(spec?.devices ?? {})
    setClaimStatusDefaults(status ?? {})
  },
  validate: (object) => deviceClaimErrors(object.spec?.devices ?? {}, SPEC.child('devices')),
  // Whoever changes the spec learns that they may not, and nothing of what they changed it to.
  validateUpdate: (object, old) => immutable(object.spec, old.spec, SPEC),
  status: {
    resetFields: [['metadata'], ['spec']],
    prepareForUpdate: (object, old) => {
      keepMetadata(object, old)
      dropReturnedDevices(object.status ?? {}, old.status ?? {})
    },
    validateUpdate: (object, old) => {
      const { metadata = {}, spec, status } = object
      const claim = {
        requests: requestNames(spec?.devices ?? {}),
        beingDeleted: metadata.deletionTimestamp !== undefined,
      }
      return [
        ...validateObjectMetaUpdate(metadata, old.metadata ?? {}),
        ...claimStatusErrors(status ?? {}, old.status ?? {}, claim, FieldPath.of('status')),
      ]
    },
  },
  table: tableOf<ResourceClaim>(text('State', 'Whether it is allocated, reserved or going away.', stateText), age()),
}

const templateErrors = ({ spec = {} }: ResourceClaimTemplate) => {
  const metadata = SPEC.child('metadata')
  return [
    ...validateLabels(spec.metadata?.labels, metadata.child('labels')),
    ...validateAnnotations(spec.metadata?.annotations, metadata.child('annotations')),
    ...deviceClaimErrors(spec.spec?.devices ?? {}, SPEC.child('spec', 'devices')),
  ]
}

export const resourceClaimTemplateRules: ResourceRules<ResourceClaimTemplate> = {
  returnDeletedObject: true,
  conversions: { [V1BETA1]: claimTemplatesV1beta1 },
  setDefaults: (object) => setClaimDefaults(object.spec?.spec?.devices ?? {}),
  validate: templateErrors,
  validateUpdate: (object, old) => [...templateErrors(object), ...immutable(object.spec, old.spec, SPEC)],
  table: tableOf<ResourceClaimTemplate>(age()),
}

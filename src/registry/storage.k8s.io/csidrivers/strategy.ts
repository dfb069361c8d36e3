/** Thread: pool. CSIDrivers: what a driver can do and wants to know. */

import { duplicate, FieldPath, invalid, notSupported, required } from '../../../api/field-error.js'
import type { CSIDriver, TokenRequest } from '../../../api/generated/kinds/storage.v1.js'
import { type Errors, each, immutable, type List, sameValue } from '../../../api/validation/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, commas, tableOf, text, UNSET } from '../../generic/table-rules.js'

const SPEC = FieldPath.of('spec')
const FS_GROUP_POLICIES = ['ReadWriteOnceWithFSType', 'File', 'None']
const MODES = ['Persistent', 'Ephemeral']
const TOKEN_ADVICE =
  'spec.serviceAccountTokenInSecrets: set it to true or false when tokenRequests are used; true keeps tokens out of the volume context'

function tokenErrors(requests: List<TokenRequest>): Errors {
  const audiences = new Set<string>()
  return each(requests, SPEC.child('tokenRequests'), ({ audience = '', expirationSeconds }, at) => {
    if (audiences.has(audience)) return [duplicate(at.child('audience'), audience)]
    audiences.add(audience)
    if (expirationSeconds === undefined || (expirationSeconds >= 600 && expirationSeconds <= 2 ** 32)) return []
    return [invalid(at.child('expirationSeconds'), expirationSeconds, 'must be between 10 minutes and 2^32 seconds')]
  })
}

function validate(object: CSIDriver): Errors {
  const { spec = {} } = object
  const errors: Errors = []
  if (spec.attachRequired === undefined) errors.push(required(SPEC.child('attachedRequired')))
  for (const field of ['podInfoOnMount', 'storageCapacity'] as const)
    if (spec[field] === undefined) errors.push(required(SPEC.child(field)))
  const policy = spec.fsGroupPolicy
  if (policy !== undefined && !FS_GROUP_POLICIES.includes(policy))
    errors.push(notSupported(SPEC.child('fsGroupPolicy'), policy, FS_GROUP_POLICIES))
  errors.push(...tokenErrors(spec.tokenRequests))
  for (const mode of spec.volumeLifecycleModes ?? [])
    if (!MODES.includes(mode)) errors.push(notSupported(SPEC.child('volumeLifecycleModes'), mode, MODES))
  if (spec.seLinuxMount === undefined) errors.push(required(SPEC.child('seLinuxMount')))
  const period = spec.nodeAllocatableUpdatePeriodSeconds
  if (period !== undefined && period < 10)
    errors.push(invalid(SPEC.child('nodeAllocatableUpdatePeriodSeconds'), period, 'must be at least 10 seconds'))
  if (spec.serviceAccountTokenInSecrets !== undefined && (spec.tokenRequests?.length ?? 0) === 0)
    errors.push(
      invalid(SPEC.child('serviceAccountTokenInSecrets'), spec.serviceAccountTokenInSecrets, 'needs tokenRequests'),
    )
  return errors
}

/** The feature VolumeLimitScaling is off by default: who does not have the field yet does not get it. */
function dropGated(object: CSIDriver): void {
  delete object.spec?.preventPodSchedulingIfMissing
}

const wantsAdvice = ({ spec }: CSIDriver): boolean =>
  (spec?.tokenRequests?.length ?? 0) > 0 && spec?.serviceAccountTokenInSecrets === undefined

export const csiDriverRules: ResourceRules<CSIDriver> = {
  returnDeletedObject: true,
  allowUnconditionalUpdate: false,
  metadataOnUpdate: 'changes',
  generationFields: ['spec'],
  setDefaults: (driver) => {
    driver.spec ??= {}
    const { spec } = driver
    spec.attachRequired ??= true
    spec.podInfoOnMount ??= false
    spec.storageCapacity ??= false
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType'
    if ((spec.volumeLifecycleModes?.length ?? 0) === 0) spec.volumeLifecycleModes = ['Persistent']
    spec.requiresRepublish ??= false
    spec.seLinuxMount ??= false
  },
  prepareForCreate: (object) => dropGated(object),
  prepareForUpdate: (object, old) => {
    if (old.spec?.preventPodSchedulingIfMissing === undefined) dropGated(object)
  },
  validate,
  validateUpdate: (object, old) => {
    const [now, before] = [object.spec ?? {}, old.spec ?? {}]
    return [
      ...validate(object),
      ...immutable(now.attachRequired, before.attachRequired, SPEC.child('attachedRequired')),
      ...immutable(now.volumeLifecycleModes, before.volumeLifecycleModes, SPEC.child('volumeLifecycleModes')),
    ]
  },
  warningsOnCreate: (object) => (wantsAdvice(object) ? [TOKEN_ADVICE] : []),
  warningsOnUpdate: (object, old) => {
    const changed = !sameValue(object.spec?.tokenRequests, old.spec?.tokenRequests)
    return changed && wantsAdvice(object) ? [TOKEN_ADVICE] : []
  },
  table: tableOf<CSIDriver>(
    text('AttachRequired', 'Whether volumes are attached first.', ({ spec }) => spec?.attachRequired ?? true, {
      type: 'boolean',
    }),
    text('PodInfoOnMount', 'Whether it is told about the pod.', ({ spec }) => spec?.podInfoOnMount ?? false, {
      type: 'boolean',
    }),
    text('StorageCapacity', 'Whether it reports capacity.', ({ spec }) => spec?.storageCapacity ?? false, {
      type: 'boolean',
    }),
    text('TokenRequests', 'The audiences of tokens that it gets.', ({ spec }) =>
      spec?.tokenRequests ? spec.tokenRequests.map(({ audience = '' }) => audience).join(',') : UNSET,
    ),
    text(
      'RequiresRepublish',
      'Whether volumes are published again and again.',
      ({ spec }) => spec?.requiresRepublish ?? false,
      {
        type: 'boolean',
      },
    ),
    text('Modes', 'The lives of volumes that it serves.', ({ spec }) => commas(spec?.volumeLifecycleModes)),
    age(),
  ),
}

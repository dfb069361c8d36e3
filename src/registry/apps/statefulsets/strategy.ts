/** Thread: pool. StatefulSets: pods with names and storage of their own. */

import { FieldPath, forbidden, invalid, required } from '../../../api/field-error.js'
import type { StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy } from '../../../api/generated/kinds/apps.v1.js'
import type { PersistentVolumeClaim, PodTemplateSpec, Volume } from '../../../api/generated/kinds/core.v1.js'
import { dnsLabel, type Errors, nonnegative, oneOf } from '../../../api/validation/checks.js'
import { dnsLabelName } from '../../../api/validation/names.js'
import { validateAnnotations, validateLabels } from '../../../api/validation/object-meta.js'
import { annotationErrors } from '../../core/pod-template/annotations.js'
import { equalButEmptyLists } from '../../core/pod-template/checks.js'
import { claimSpecErrors, claimSpecWarnings, setClaimSpecDefaults } from '../../core/pod-template/claim-spec.js'
import { atMost100Percent, intOrPercentValue, positiveIntOrPercent } from '../../core/pod-template/int-or-percent.js'
import { setTemplateDefaults } from '../../core/pod-template/pod-defaults.js'
import { podTemplateErrors } from '../../core/pod-template/pod-validation.js'
import {
  alwaysRunningErrors,
  isSelectorSound,
  labelMismatchErrors,
  requiredSelectorErrors,
} from '../../core/pod-template/selected-template.js'
import {
  collisionCountErrors,
  containerColumns,
  isNewGeneration,
  statusCountErrors,
  statusMetadataErrors,
  templateWarnings,
} from '../../core/pod-template/workload.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

const SPEC = FieldPath.of('spec')

function setDefaults(set: StatefulSet): void {
  set.spec ??= {}
  const { spec } = set
  spec.template ??= {}
  setTemplateDefaults(spec.template)
  spec.podManagementPolicy ||= 'OrderedReady'
  spec.updateStrategy ??= {}
  if ((spec.updateStrategy.type ?? '') === '') {
    spec.updateStrategy.type = 'RollingUpdate'
    spec.updateStrategy.rollingUpdate ??= {}
  }
  const { type, rollingUpdate } = spec.updateStrategy
  if (type === 'RollingUpdate' && rollingUpdate !== undefined) {
    rollingUpdate.partition ??= 0
  }
  spec.persistentVolumeClaimRetentionPolicy ??= {}
  spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= 'Retain'
  spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= 'Retain'
  spec.replicas ??= 1
  spec.revisionHistoryLimit ??= 10
  for (const claim of spec.volumeClaimTemplates ?? []) setClaimDefaults(claim)
}

/** Claims in templates are whole claims, and get what claims get. */
function setClaimDefaults(claim: PersistentVolumeClaim): void {
  claim.apiVersion = 'v1'
  claim.kind = 'PersistentVolumeClaim'
  claim.spec ??= {}
  setClaimSpecDefaults(claim.spec)
  claim.status ??= {}
  claim.status.phase ||= 'Pending'
}

/** Behind a gate that is off, so nobody can come to use it. */
function dropMaxUnavailable(object: StatefulSet, old?: StatefulSet): void {
  const rollingUpdate = (set: StatefulSet | undefined) => set?.spec?.updateStrategy?.rollingUpdate
  if (rollingUpdate(old)?.maxUnavailable === undefined) delete rollingUpdate(object)?.maxUnavailable
}

function specErrors(spec: StatefulSetSpec, isNew: boolean, checkTemplate = true): Errors {
  const policy = spec.podManagementPolicy ?? ''
  const errors: Errors = []
  if (policy === '') errors.push(required(SPEC.child('podManagementPolicy')))
  else if (policy !== 'OrderedReady' && policy !== 'Parallel')
    errors.push(invalid(SPEC.child('podManagementPolicy'), policy, "must be 'OrderedReady' or 'Parallel'"))
  errors.push(...strategyErrors(spec.updateStrategy ?? {}))
  for (const when of ['whenDeleted', 'whenScaled'] as const) {
    const at = SPEC.child('persistentVolumeClaimRetentionPolicy', when)
    errors.push(...oneOf(spec.persistentVolumeClaimRetentionPolicy?.[when], ['Retain', 'Delete'], at))
  }
  if (isNew)
    for (const [i, claim] of (spec.volumeClaimTemplates ?? []).entries())
      errors.push(...claimSpecErrors(claim.spec ?? {}, SPEC.child('volumeClaimTemplates').index(i).child('spec')))
  errors.push(...nonnegative(spec.replicas, SPEC.child('replicas')))
  errors.push(...nonnegative(spec.minReadySeconds, SPEC.child('minReadySeconds')))
  errors.push(...nonnegative(spec.ordinals?.start, SPEC.child('ordinals.start')))
  if (isNew && (spec.serviceName ?? '') !== '') errors.push(...dnsLabel(spec.serviceName!, SPEC.child('serviceName')))
  errors.push(...requiredSelectorErrors(spec.selector, SPEC.child('selector')))
  if (isSelectorSound(spec.selector)) errors.push(...templateErrors(spec, checkTemplate))
  errors.push(...alwaysRunningErrors(spec.template, SPEC.child('template')))
  return errors
}

function strategyErrors(strategy: StatefulSetUpdateStrategy): Errors {
  const { type = '', rollingUpdate } = strategy
  const path = SPEC.child('updateStrategy')
  const at = path.child('rollingUpdate')
  if (type === '') return [required(path)]
  if (type === 'OnDelete')
    return rollingUpdate === undefined
      ? []
      : [invalid(at, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")]
  if (type !== 'RollingUpdate') return [invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")]
  if (rollingUpdate === undefined) return []
  const errors = nonnegative(rollingUpdate.partition, at.child('partition'))
  const { maxUnavailable } = rollingUpdate
  if (maxUnavailable === undefined) return errors
  const most = at.child('maxUnavailable')
  errors.push(...positiveIntOrPercent(maxUnavailable, most))
  if (intOrPercentValue(maxUnavailable) === 0) errors.push(invalid(most, maxUnavailable, 'cannot be 0'))
  errors.push(...atMost100Percent(maxUnavailable, most))
  return errors
}

/** Pods get hostname, subdomain and a volume for every claim; the template is checked as they will be. */
function templateErrors(
  { template = {}, selector, volumeClaimTemplates = [] }: StatefulSetSpec,
  checkTemplate: boolean,
): Errors {
  const path = SPEC.child('template')
  const { metadata, spec = {} } = template
  const { subdomain: _, hostname: __, ...rest } = spec
  const claimed = new Map(volumeClaimTemplates.map(({ metadata: { name = '' } = {} }) => [name, claimVolume(name)]))
  const others = (spec.volumes ?? []).filter(({ name = '' }) => !claimed.has(name))
  const whole: PodTemplateSpec = {
    ...(metadata === undefined ? {} : { metadata }),
    spec: claimed.size === 0 ? rest : { ...rest, volumes: [...claimed.values(), ...others] },
  }
  return [
    ...labelMismatchErrors(template, selector, path),
    ...(checkTemplate ? podTemplateErrors(whole, path) : []),
    // Labels and annotations are checked once more here, as Kubernetes does.
    ...validateLabels(metadata?.labels, path.child('labels')),
    ...validateAnnotations(metadata?.annotations, path.child('annotations')),
    ...annotationErrors(metadata?.annotations, spec, path.child('annotations')),
  ]
}

const claimVolume = (name: string): Volume => ({ name, persistentVolumeClaim: { claimName: name } })

/** Fields that an update may change; the others are what pods and their storage were made from. */
const CHANGEABLE = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
] as const

function fixedPart(spec: StatefulSetSpec): StatefulSetSpec {
  const fixed = { ...spec }
  for (const field of CHANGEABLE) delete fixed[field]
  return fixed
}

function updateErrors(spec: StatefulSetSpec, old: StatefulSetSpec): Errors {
  const errors = specErrors(spec, false)
  // A set that was stored before a rule was made can still be changed: its template is not looked at.
  const tolerated = errors.length > 0 && specErrors(old, false).length > 0
  return [
    ...(tolerated ? specErrors(spec, false, false) : errors),
    ...(equalButEmptyLists(fixedPart(spec), fixedPart(old))
      ? []
      : [forbidden(SPEC, `only ${CHANGEABLE.join(', ')} can be changed`)]),
  ]
}

function validateStatus(object: StatefulSet, old: StatefulSet): Errors {
  const [status, before] = [object.status, old.status]
  return [
    ...statusCountErrors(
      status,
      [
        'replicas',
        'readyReplicas',
        'currentReplicas',
        'updatedReplicas',
        'availableReplicas',
        'observedGeneration',
        'collisionCount',
      ],
      [
        ['readyReplicas', 'replicas'],
        ['currentReplicas', 'replicas'],
        ['updatedReplicas', 'replicas'],
        ['availableReplicas', 'replicas'],
        ['availableReplicas', 'readyReplicas'],
      ],
    ),
    ...statusMetadataErrors(object, old),
    ...collisionCountErrors(status, before),
  ]
}

function setWarnings({ spec = {} }: StatefulSet): string[] {
  const warnings = (spec.volumeClaimTemplates ?? []).flatMap((claim, i) =>
    claimSpecWarnings(claim.spec ?? {}, SPEC.child('volumeClaimTemplates').index(i)),
  )
  if ((spec.revisionHistoryLimit ?? 0) < 0)
    warnings.push('spec.revisionHistoryLimit: a negative value keeps all revisions; zero or more is recommended')
  return warnings
}

export const statefulSetRules: ResourceRules<StatefulSet> = {
  podSpecAt: ['spec', 'template', 'spec'],
  nameRule: dnsLabelName,
  generationFields: ['spec'],
  metadataOnUpdate: 'changes',
  setDefaults,
  prepareForCreate: (object) => dropMaxUnavailable(object),
  prepareForUpdate: dropMaxUnavailable,
  validate: (object) => specErrors(object.spec ?? {}, true),
  validateUpdate: (object, old) => updateErrors(object.spec ?? {}, old.spec ?? {}),
  warningsOnCreate: (object) => [...templateWarnings(object.spec?.template), ...setWarnings(object)],
  warningsOnUpdate: (object, old) => [
    ...(isNewGeneration(object, old) ? templateWarnings(object.spec?.template) : []),
    ...setWarnings(object),
  ],
  status: { validateUpdate: validateStatus },
  table: tableOf<StatefulSet>(
    text(
      'Ready',
      'Ready pods, of those wanted.',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    ),
    age(),
    ...containerColumns<StatefulSet>(({ spec }) => spec?.template),
  ),
}

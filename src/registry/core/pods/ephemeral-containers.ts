/** Thread: pool. pods/ephemeralcontainers: containers are added to a pod that runs, and stay as they are. */

import { FieldPath, forbidden } from '../../../api/field-error.js'
import type { Pod } from '../../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../../api/object.js'
import type { Errors } from '../../../api/validation/checks.js'
import { validateObjectMetaUpdate } from '../../../api/validation/object-meta.js'
import type { PartRules } from '../../generic/resource-rules.js'
import { keepMetadata } from '../../generic/rules-strategy.js'
import { annotationUpdateErrors } from '../pod-template/annotations.js'
import { equalButEmptyLists } from '../pod-template/checks.js'
import { podErrors } from './validation.js'

const CONTAINERS = FieldPath.of('spec', 'ephemeralContainers')
export const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'

function prepareForUpdate(object: Pod, old: Pod): void {
  const [pod, oldPod] = [object, old]
  const added = pod.spec?.ephemeralContainers
  const { ephemeralContainers: _, ...kept } = structuredClone(oldPod.spec ?? {})
  pod.spec = added === undefined ? kept : { ...kept, ephemeralContainers: added }
  keepMetadata(pod, oldPod)
}

function validateUpdate(object: Pod, old: Pod): Errors {
  const [pod, oldPod] = [object, old]
  const { annotations } = metadataOf(oldPod)
  if (annotations?.[MIRROR_ANNOTATION] !== undefined)
    return [forbidden(FieldPath.of(), 'static pods do not support ephemeral containers')]
  const errors = [
    ...validateObjectMetaUpdate(metadataOf(pod), metadataOf(oldPod)),
    ...podErrors(pod),
    ...annotationUpdateErrors(metadataOf(pod).annotations, annotations, FieldPath.of('metadata', 'annotations')),
  ]
  const byName = new Map((pod.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]))
  for (const before of oldPod.spec?.ephemeralContainers ?? []) {
    const now = byName.get(before.name)
    const name = JSON.stringify(before.name)
    if (now === undefined)
      errors.push(forbidden(CONTAINERS, `existing ephemeral containers ${name} may not be removed\n`))
    else if (!equalButEmptyLists(now, before))
      errors.push(forbidden(CONTAINERS, `existing ephemeral containers ${name} may not be changed\n`))
  }
  return errors
}

export const ephemeralContainersRules: PartRules<Pod> = {
  writes: 'spec',
  ownedFields: [['f:spec', 'f:ephemeralContainers']],
  prepareForUpdate,
  validateUpdate,
}

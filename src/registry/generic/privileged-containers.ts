/** Thread: pool. Containers that ask to be privileged, for servers that allow none. */
import { type FieldError, FieldPath, forbidden } from '../../api/field-error.js'
import type { KubeObject } from '../../api/object.js'
import { podSpecAt } from './pod-spec-at.js'

const LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const

export function privilegedContainerErrors(object: KubeObject, specAt: readonly string[]): FieldError[] {
  const spec = podSpecAt(object, specAt)
  const path = FieldPath.of(...specAt)
  return LISTS.flatMap((list) =>
    (spec[list] ?? []).flatMap(({ securityContext }, i) =>
      securityContext?.privileged === true
        ? [forbidden(path.child(list).index(i).child('securityContext', 'privileged'), 'this server allows none')]
        : [],
    ),
  )
}

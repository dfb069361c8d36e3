/** Thread: pool. Containers that ask to be privileged, for servers that allow none. */
import { type FieldError, FieldPath, forbidden } from '../../api/field-error.js'
import type { KubeObject } from '../../api/object.js'

const LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const

interface PodSpec extends Partial<Record<(typeof LISTS)[number], readonly Container[] | null>> {}
type Container = { readonly securityContext?: { readonly privileged?: boolean } }

export function privilegedContainerErrors(object: KubeObject, podSpecAt: readonly string[]): FieldError[] {
  let value: unknown = object
  for (const name of podSpecAt) value = (value as Record<string, unknown> | undefined)?.[name]
  const spec = (value ?? {}) as PodSpec
  const path = FieldPath.of(...podSpecAt)
  return LISTS.flatMap((list) =>
    (spec[list] ?? []).flatMap(({ securityContext }, i) =>
      securityContext?.privileged === true
        ? [forbidden(path.child(list).index(i).child('securityContext', 'privileged'), 'this server allows none')]
        : [],
    ),
  )
}

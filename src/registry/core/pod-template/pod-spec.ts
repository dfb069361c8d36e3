/** Thread: any. The containers of a pod, in whichever of its three lists they stand. */
import type { EphemeralContainer, PodSpec } from '../../../api/generated/kinds/core.v1.js'

/** The type of ephemeral containers has every field of the other two. */
export type AnyContainer = EphemeralContainer
export type ContainerList = 'initContainers' | 'containers' | 'ephemeralContainers'
const LISTS: readonly ContainerList[] = ['initContainers', 'containers', 'ephemeralContainers']

/** Every container of a pod with where it stands. */
export function allContainers(spec: PodSpec): { list: ContainerList; index: number; container: AnyContainer }[] {
  return LISTS.flatMap((list) =>
    (spec[list] ?? []).map((container: AnyContainer, index) => ({ list, index, container })),
  )
}

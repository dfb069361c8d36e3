/** Thread: any. One rule of pod security, and the words that all rules share. */
import type { PodSpec } from '../../../api/generated/kinds/core.v1.js'
import { type AnyContainer, allContainers, type PodParts } from '../pod.js'

export interface Violation {
  readonly reason: string
  readonly detail: string
}

/** `version` is the minor version of 1.x by whose rules the pod is looked at. */
export type CheckPod = (pod: PodParts, version: number) => Violation | undefined

export interface Check {
  readonly id: string
  readonly level: 'baseline' | 'restricted'
  /** The first version that has the check. */
  readonly since: number
  /** The milder check of the baseline that this check replaces. */
  readonly overrides?: string
  readonly check: CheckPod
}

export const quoted = (items: Iterable<string>): string => [...items].map((item) => `"${item}"`).join(', ')

export const plural = (word: string, count: number): string => (count === 1 ? word : `${word}s`)

export const sorted = (items: Iterable<string>): string[] => [...new Set(items)].sort()

/** Names containers: `container "a"` or `containers "a", "b"`. */
export const containerList = (names: readonly string[]): string =>
  `${plural('container', names.length)} ${quoted(names)}`

export const namesWhere = (spec: PodSpec, test: (container: AnyContainer) => boolean): string[] =>
  allContainers(spec)
    .filter(test)
    .map(({ name = '' }) => name)

/** Names the pod and the containers that set something wrong: `pod and container "a"`. */
export function setters(podDoes: boolean, containers: readonly string[]): string {
  const parts = podDoes ? ['pod'] : []
  if (containers.length > 0) parts.push(containerList(containers))
  return parts.join(' and ')
}

export const isWindows = (spec: PodSpec): boolean => spec.os?.name === 'windows'

/** Whether the pod has a user namespace, in which root is nobody outside it. */
export const hasUserNamespace = (spec: PodSpec): boolean => spec.hostUsers === false

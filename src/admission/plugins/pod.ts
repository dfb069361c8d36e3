/** Thread: pool. What admission asks of a pod as a whole, and where other kinds carry the template of one. */

import { type Amounts, addAmounts, raiseAmounts } from '../../api/amounts.js'
import type { Deployment } from '../../api/generated/kinds/apps.v1.js'
import type { CronJob } from '../../api/generated/kinds/batch.v1.js'
import type {
  Container,
  EphemeralContainer,
  PodSpec,
  PodTemplate,
  PodTemplateSpec,
} from '../../api/generated/kinds/core.v1.js'
import type { GroupResource } from '../../api/group-version.js'
import type { KubeObject, ObjectMeta } from '../../api/object.js'
import { parseQuantity } from '../../api/quantity.js'

export type AnyContainer = Container | EphemeralContainer

/** The parts of a pod, or of a template, that are looked at. */
export interface PodParts {
  readonly metadata: ObjectMeta
  readonly spec: PodSpec
}

type FindTemplate = (object: KubeObject) => PodTemplateSpec | undefined

const ofSpec: FindTemplate = ({ spec }: Deployment) => spec?.template

const TEMPLATES: ReadonlyMap<string, FindTemplate> = new Map<string, FindTemplate>([
  ['/podtemplates', ({ template }: PodTemplate) => template],
  ['/replicationcontrollers', ofSpec],
  ['apps/replicasets', ofSpec],
  ['apps/deployments', ofSpec],
  ['apps/statefulsets', ofSpec],
  ['apps/daemonsets', ofSpec],
  ['batch/jobs', ofSpec],
  ['batch/cronjobs', ({ spec }: CronJob) => spec?.jobTemplate?.spec?.template],
])

export const hasPodTemplate = ({ group, resource }: GroupResource): boolean => TEMPLATES.has(`${group}/${resource}`)

/** The template of a workload; undefined when it has none. */
export function podTemplateOf({ group, resource }: GroupResource, object: KubeObject): PodParts | undefined {
  const template = TEMPLATES.get(`${group}/${resource}`)?.(object)
  return template && { metadata: template.metadata ?? {}, spec: template.spec ?? {} }
}

/** All containers, in the order in which kube-apiserver names them. */
export const allContainers = (spec: PodSpec): AnyContainer[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
  ...(spec.ephemeralContainers ?? []),
]

const POD_LEVEL = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')

/** The amounts of a pod as a whole: the sum of what runs together, at least what runs before it, and its overhead. */
export function podAmounts(spec: PodSpec, side: 'requests' | 'limits'): Amounts {
  const sums: Amounts = new Map()
  for (const { resources } of spec.containers ?? []) addAmounts(sums, resources?.[side])
  const sidecars: Amounts = new Map()
  const before: Amounts = new Map()
  for (const { restartPolicy, resources } of spec.initContainers ?? []) {
    if (restartPolicy === 'Always') {
      addAmounts(sums, resources?.[side])
      addAmounts(sidecars, resources?.[side])
      raiseAmounts(before, sidecars)
    } else {
      const together: Amounts = new Map(sidecars)
      addAmounts(together, resources?.[side])
      raiseAmounts(before, together)
    }
  }
  raiseAmounts(sums, before)
  for (const [name, text] of Object.entries(spec.resources?.[side] ?? {})) {
    if (POD_LEVEL(name)) sums.set(name, parseQuantity(text))
  }
  // Overhead is added to limits that exist; it makes none.
  const overhead = Object.entries(spec.overhead ?? {}).filter(([name]) => side === 'requests' || sums.has(name))
  addAmounts(sums, Object.fromEntries(overhead))
  return sums
}

/** Whether no container has a request or a limit of cpu or memory above zero. */
export function isBestEffort(spec: PodSpec): boolean {
  const holders =
    spec.resources === undefined
      ? [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((container) => container.resources)
      : [spec.resources]
  return holders.every((holder) =>
    [holder?.requests, holder?.limits].every((list) =>
      ['cpu', 'memory'].every((name) => list?.[name] === undefined || parseQuantity(list[name]).sign <= 0),
    ),
  )
}

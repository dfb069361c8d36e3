/** Thread: pool. Pods get the number and the preemption policy of their priority class; a class's number never changes. */

import type { Pod, PodSpec } from '../../api/generated/kinds/core.v1.js'
import type { PriorityClass } from '../../api/generated/kinds/scheduling.v1.js'
import { lookupTable } from '../../lib/lookup-table.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid, isAbout } from '../forbid.js'
import { type AdmissionObjects, PRIORITY_CLASSES } from '../objects.js'

const PREEMPT = 'PreemptLowerPriority'

/** The two built-in classes, which exist even when nobody has made the objects. */
const SYSTEM_CLASSES: Readonly<Record<string, number>> = lookupTable({
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
})

export class Priority implements AdmissionPlugin<Pod | PriorityClass> {
  readonly name = 'Priority'
  readonly #objects: AdmissionObjects

  constructor(objects: AdmissionObjects) {
    this.#objects = objects
  }

  handles(attributes: AdmissionAttributes): boolean {
    return (
      isAbout(attributes, '', 'pods', 'CREATE', 'UPDATE') ||
      isAbout(attributes, 'scheduling.k8s.io', 'priorityclasses', 'CREATE', 'UPDATE')
    )
  }

  admit(attributes: AdmissionAttributes<Pod>): Promise<void> | void {
    const { operation, object, oldObject, resource } = attributes
    const spec = object?.spec
    if (resource.resource !== 'pods' || spec === undefined) return
    if (operation === 'CREATE') return this.#shape(attributes, spec)
    // An update by a client that knows nothing of priorities must not take them away.
    const old = oldObject?.spec ?? {}
    if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority
    if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined)
      spec.preemptionPolicy = old.preemptionPolicy
  }

  /** At most one class is the default of all. */
  async validate(attributes: AdmissionAttributes<PriorityClass>): Promise<void> {
    const { resource, object: next, operation } = attributes
    if (resource.resource !== 'priorityclasses') return
    if (next?.globalDefault !== true) return
    const present = await this.#globalDefault()
    const name = present?.metadata?.name
    if (name !== undefined && (operation === 'CREATE' || name !== next.metadata?.name))
      throw forbid(attributes, `PriorityClass ${name} is already marked as default. Only one default can exist`)
  }

  async #shape(attributes: AdmissionAttributes, spec: PodSpec): Promise<void> {
    const found = await this.#classOf(attributes, spec)
    const priority = found?.value ?? 0
    const policy = found?.preemptionPolicy ?? PREEMPT
    if (spec.priority !== undefined && spec.priority !== priority) {
      throw forbid(
        attributes,
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
      )
    }
    spec.priority = priority
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
      throw forbid(
        attributes,
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
      )
    }
    spec.preemptionPolicy = policy
  }

  async #classOf(attributes: AdmissionAttributes, spec: PodSpec): Promise<PriorityClass | undefined> {
    const { priorityClassName = '' } = spec
    if (priorityClassName === '') {
      const found = await this.#globalDefault()
      const name = found?.metadata?.name
      if (name !== undefined) spec.priorityClassName = name
      return found
    }
    const found =
      (await this.#objects.get(PRIORITY_CLASSES, '', priorityClassName)) ??
      (await this.#objects.getLive(PRIORITY_CLASSES, '', priorityClassName))
    if (found !== undefined) return found
    const value = SYSTEM_CLASSES[priorityClassName]
    if (value !== undefined) return { value }
    throw forbid(attributes, `no PriorityClass with name ${priorityClassName} was found`)
  }

  /** The default class. When races have made several, the lowest counts. */
  async #globalDefault(): Promise<PriorityClass | undefined> {
    const classes = await this.#objects.list(PRIORITY_CLASSES, '')
    return classes.filter((one) => one.globalDefault === true).sort((a, b) => (a.value ?? 0) - (b.value ?? 0))[0]
  }
}

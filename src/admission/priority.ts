/** Thread: pool. Pods get the number and the preemption policy of their priority class; a class's number never changes. */
import type { KubeObject } from '../api/object.js'
import { newForbidden, newInternalError } from '../api/status.js'
import type { AdmissionAttributes, AdmissionPlugin } from './chain.js'

export interface PriorityClass extends KubeObject {
  value?: number
  globalDefault?: boolean
  preemptionPolicy?: string
}

interface PodSpec {
  priority?: number
  priorityClassName?: string
  preemptionPolicy?: string
}

/** Where the classes are; the newest state. */
export interface PriorityClasses {
  get(name: string): Promise<PriorityClass | undefined>
  /** Of several defaults the lowest counts. */
  globalDefault(): Promise<PriorityClass | undefined>
}

const PODS = { group: '', resource: 'pods' }
const PREEMPT = 'PreemptLowerPriority'

export class Priority implements AdmissionPlugin {
  readonly name = 'Priority'
  readonly #classes: PriorityClasses

  constructor(classes: PriorityClasses) {
    this.#classes = classes
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    return (
      (operation === 'CREATE' || operation === 'UPDATE') &&
      resource.group === '' &&
      resource.resource === 'pods' &&
      subresource === ''
    )
  }

  async admit({ operation, object, oldObject, name }: AdmissionAttributes): Promise<void> {
    const spec = object?.['spec'] as PodSpec | undefined
    if (spec === undefined) return
    if (operation === 'UPDATE') {
      // A client that knows nothing of priorities must not take them away.
      const old = (oldObject?.['spec'] ?? {}) as PodSpec
      if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority
      if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined)
        spec.preemptionPolicy = old.preemptionPolicy
      return
    }
    const found = await this.#classOf(spec, name)
    const priority = found?.value ?? 0
    const policy = found?.preemptionPolicy ?? PREEMPT
    if (spec.priority !== undefined && spec.priority !== priority) {
      throw newForbidden(
        PODS,
        name,
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
      )
    }
    spec.priority = priority
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
      throw newForbidden(
        PODS,
        name,
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
      )
    }
    spec.preemptionPolicy = policy
  }

  async #classOf(spec: PodSpec, pod: string): Promise<PriorityClass | undefined> {
    if ((spec.priorityClassName ?? '') === '') {
      const found = await this.#classes.globalDefault()
      const name = found?.metadata?.name
      if (name !== undefined) spec.priorityClassName = name
      return found
    }
    const found = await this.#classes.get(spec.priorityClassName!)
    if (found === undefined)
      throw newForbidden(PODS, pod, `no PriorityClass with name ${spec.priorityClassName} was found`)
    if (found.value === undefined) throw newInternalError(`PriorityClass ${spec.priorityClassName} has no value`)
    return found
  }
}

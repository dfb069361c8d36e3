/** Thread: pool. Pods get the overhead, the node selector and the tolerations of their runtime class. */

import type { Pod, PodSpec } from '../../api/generated/kinds/core.v1.js'
import type { RuntimeClass as RuntimeClassKind } from '../../api/generated/kinds/node.v1.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid, isAbout } from '../forbid.js'
import { type AdmissionObjects, RUNTIME_CLASSES } from '../objects.js'
import { sameQuantities } from './quantities.js'
import { mergeTolerations } from './tolerations.js'

export class RuntimeClass implements AdmissionPlugin<Pod> {
  readonly name = 'RuntimeClass'
  readonly #objects: AdmissionObjects

  constructor(objects: AdmissionObjects) {
    this.#objects = objects
  }

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, '', 'pods', 'CREATE')
  }

  admit(attributes: AdmissionAttributes<Pod>): Promise<void> | void {
    const spec = attributes.object?.spec
    if (spec?.runtimeClassName !== undefined && spec.runtimeClassName !== '') return this.#shape(attributes, spec)
  }

  validate(attributes: AdmissionAttributes<Pod>): Promise<void> | void {
    const spec = attributes.object?.spec
    if (spec === undefined) return
    if ((spec.runtimeClassName ?? '') !== '') return this.#check(attributes, spec)
    if (Object.keys(spec.overhead ?? {}).length > 0)
      throw forbid(attributes, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
  }

  async #class(attributes: AdmissionAttributes<Pod>, name: string): Promise<RuntimeClassKind> {
    const found =
      (await this.#objects.get(RUNTIME_CLASSES, '', name)) ?? (await this.#objects.getLive(RUNTIME_CLASSES, '', name))
    if (found === undefined) throw forbid(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
    return found
  }

  async #shape(attributes: AdmissionAttributes<Pod>, spec: PodSpec): Promise<void> {
    const { overhead, scheduling } = await this.#class(attributes, spec.runtimeClassName!)
    const fixed = overhead?.podFixed
    if (fixed !== undefined) {
      if (spec.overhead !== undefined && !sameQuantities(spec.overhead, fixed))
        throw forbid(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
      spec.overhead = { ...fixed }
    }
    if (scheduling === undefined) return
    for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
      const given = spec.nodeSelector?.[key]
      if (given !== undefined && given !== value)
        throw forbid(
          attributes,
          `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${given}`,
        )
      spec.nodeSelector = { ...spec.nodeSelector, [key]: value }
    }
    if ((scheduling.tolerations ?? []).length > 0)
      spec.tolerations = mergeTolerations(spec.tolerations ?? [], scheduling.tolerations!)
  }

  async #check(attributes: AdmissionAttributes<Pod>, spec: PodSpec): Promise<void> {
    const { overhead } = await this.#class(attributes, spec.runtimeClassName!)
    const fixed = overhead?.podFixed
    if (fixed !== undefined && !sameQuantities(spec.overhead ?? {}, fixed))
      throw forbid(attributes, `pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`)
    if (fixed === undefined && Object.keys(spec.overhead ?? {}).length > 0)
      throw forbid(attributes, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
  }
}

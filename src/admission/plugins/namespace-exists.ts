/**
 * Thread: pool. Nothing is written into a namespace that does not exist. For creations NamespaceLifecycle sees to it
 * already.
 */
import { newNotFound } from '../../api/status.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { type AdmissionObjects, NAMESPACES } from '../objects.js'

export class NamespaceExists implements AdmissionPlugin {
  readonly name = 'NamespaceExists'
  readonly #objects: AdmissionObjects

  constructor(objects: AdmissionObjects) {
    this.#objects = objects
  }

  handles({ operation, resource }: AdmissionAttributes): boolean {
    return operation !== 'CONNECT' && !(resource.group === '' && resource.resource === 'namespaces')
  }

  async validate({ namespace }: AdmissionAttributes): Promise<void> {
    if (namespace === '') return
    const found =
      (await this.#objects.get(NAMESPACES, '', namespace)) ?? (await this.#objects.getLive(NAMESPACES, '', namespace))
    if (found === undefined) throw newNotFound(NAMESPACES, namespace)
  }
}

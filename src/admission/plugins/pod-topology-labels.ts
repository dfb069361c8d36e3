/** Thread: pool. A pod gets the zone and the region of the node it is bound to. */
import type { Binding, Pod } from '../../api/generated/kinds/core.v1.js'
import { type KubeObject, metadataOf } from '../../api/object.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { type AdmissionObjects, NODES } from '../objects.js'

const LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

export class PodTopologyLabels implements AdmissionPlugin {
  readonly name = 'PodTopologyLabels'
  readonly #objects: AdmissionObjects

  constructor(objects: AdmissionObjects) {
    this.#objects = objects
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    return (
      operation === 'CREATE' &&
      resource.group === '' &&
      ((resource.resource === 'pods' && (subresource === '' || subresource === 'binding')) ||
        (resource.resource === 'bindings' && subresource === ''))
    )
  }

  admit({ object, resource, subresource }: AdmissionAttributes): Promise<void> | void {
    if (object === undefined) return
    const isBinding = subresource === 'binding' || resource.resource === 'bindings'
    const node = isBinding ? nodeOfBinding(object) : nodeOfPod(object)
    if (node !== undefined && node !== '') return this.#copy(object, node)
  }

  async #copy(object: KubeObject, name: string): Promise<void> {
    const node = await this.#objects.get(NODES, '', name)
    if (node === undefined) return
    const labels = metadataOf(node).labels ?? {}
    for (const key of LABELS) {
      const value = labels[key]
      if (value === undefined) continue
      const metadata = metadataOf(object)
      metadata.labels = { ...metadata.labels, [key]: value }
    }
  }
}

const nodeOfPod = ({ spec }: Pod): string | undefined => spec?.nodeName

const nodeOfBinding = ({ target }: Binding): string | undefined => (target?.kind === 'Node' ? target.name : undefined)

/** Thread: pool. A pod on a node may grow as far as the node reaches, and only where a node can do it. */
import type { Node, Pod } from '../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../api/object.js'
import { parseQuantity } from '../../api/quantity.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid } from '../forbid.js'
import { type AdmissionObjects, NODES } from '../objects.js'
import { podAmounts } from './pod.js'

export class PodResizeValidator implements AdmissionPlugin<Pod> {
  readonly name = 'PodResizeValidator'
  readonly #objects: AdmissionObjects

  constructor(objects: AdmissionObjects) {
    this.#objects = objects
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    return operation === 'UPDATE' && resource.group === '' && resource.resource === 'pods' && subresource === 'resize'
  }

  async validate(attributes: AdmissionAttributes<Pod>): Promise<void> {
    const { object: pod = {} } = attributes
    const { nodeName = '' } = pod.spec ?? {}
    // The generation is unchanged when the spec is.
    if (nodeName === '' || metadataOf(pod).generation === attributes.oldObject?.metadata?.generation) return
    const node = await this.#objects.get(NODES, '', nodeName)
    if (node === undefined) throw forbid(attributes, `node ${JSON.stringify(nodeName)} not found`)
    const os = metadataOf(node).labels?.['kubernetes.io/os']
    if (os !== undefined && os !== 'linux')
      throw forbid(
        attributes,
        `pod resize is only supported on linux nodes, node ${JSON.stringify(nodeName)} is ${os}`,
        [{ reason: 'UnsupportedPlatform' }],
      )
    refuseMoreThan(attributes, pod, node)
  }
}

function refuseMoreThan(attributes: AdmissionAttributes, pod: Pod, node: Node): void {
  const allocatable = node.status?.allocatable ?? {}
  const requests = podAmounts(pod.spec ?? {}, 'requests')
  for (const name of ['cpu', 'memory']) {
    const wanted = requests.get(name)
    if (wanted === undefined || wanted.compare(parseQuantity(allocatable[name] ?? '0')) <= 0) continue
    throw forbid(
      attributes,
      `pod requests more ${name} than the node has: ${wanted} is requested, ${allocatable[name] ?? '0'} is allocatable`,
      [{ reason: 'NodeCapacity' }],
    )
  }
}

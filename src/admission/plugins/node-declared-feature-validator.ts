/** Thread: pool. A pod on a node may begin to use only those features that the node says it has. */
import type { Container, Pod, PodSpec } from '../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../api/object.js'
import { parseQuantity } from '../../api/quantity.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid } from '../forbid.js'
import { type AdmissionObjects, NODES } from '../objects.js'

/** The feature of changing the cpu of a guaranteed pod in place. */
const GUARANTEED_CPU_RESIZE = 'GuaranteedQoSPodCPUResize'

export class NodeDeclaredFeatureValidator implements AdmissionPlugin<Pod> {
  readonly name = 'NodeDeclaredFeatureValidator'
  readonly #objects: AdmissionObjects

  constructor(objects: AdmissionObjects) {
    this.#objects = objects
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    return (
      operation === 'UPDATE' &&
      resource.group === '' &&
      resource.resource === 'pods' &&
      (subresource === '' || subresource === 'resize')
    )
  }

  async validate(attributes: AdmissionAttributes<Pod>): Promise<void> {
    const { object: pod = {}, oldObject: old = {} } = attributes
    const { nodeName = '' } = pod.spec ?? {}
    if (nodeName === '' || metadataOf(pod).generation === old.metadata?.generation) return
    if (!isGuaranteed(old) || !changesCpu(pod.spec ?? {}, old.spec ?? {})) return
    const node = await this.#objects.get(NODES, '', nodeName)
    if (node === undefined) throw forbid(attributes, `node ${JSON.stringify(nodeName)} not found`)
    const { declaredFeatures = [] } = node.status ?? {}
    if (declaredFeatures.includes(GUARANTEED_CPU_RESIZE)) return
    throw forbid(
      attributes,
      `pod update requires features ${GUARANTEED_CPU_RESIZE} which are not available on node ${JSON.stringify(nodeName)}`,
    )
  }
}

const isGuaranteed = (pod: Pod): boolean => pod.status?.qosClass === 'Guaranteed'

function changesCpu(spec: PodSpec, old: PodSpec): boolean {
  const before = new Map((old.containers ?? []).map((container) => [container.name, cpuOf(container)]))
  return (spec.containers ?? []).some((container) => {
    const was = before.get(container.name)
    return was !== undefined && !parseQuantity(cpuOf(container)).equals(parseQuantity(was))
  })
}

const cpuOf = ({ resources }: Container): string => resources?.requests?.['cpu'] ?? '0'

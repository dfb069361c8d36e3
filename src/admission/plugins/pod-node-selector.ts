/** Thread: pool. Pods of a namespace run on the nodes that the namespace's annotation selects. */
import type { Pod } from '../../api/generated/kinds/core.v1.js'
import type { JsonObject } from '../../api/object.js'
import { metadataOf } from '../../api/object.js'
import { ownMember } from '../../lib/own-member.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid, isAbout } from '../forbid.js'
import { type AdmissionObjects, NAMESPACES } from '../objects.js'

const ANNOTATION = 'scheduler.alpha.kubernetes.io/node-selector'
const CLUSTER_DEFAULT = 'clusterDefaultNodeSelector'

export class PodNodeSelector implements AdmissionPlugin<Pod> {
  readonly name = 'PodNodeSelector'
  readonly #objects: AdmissionObjects
  /** The configured selectors: by namespace what its pods may select at most, and the default of the cluster. */
  readonly #configured: ReadonlyMap<string, string>

  constructor(objects: AdmissionObjects, config: JsonObject = {}) {
    this.#objects = objects
    const selectors = (config['podNodeSelectorPluginConfig'] ?? {}) as JsonObject
    this.#configured = new Map(Object.entries(selectors).map(([name, text]) => [name, String(text ?? '')]))
  }

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, '', 'pods', 'CREATE')
  }

  async admit(attributes: AdmissionAttributes<Pod>): Promise<void> {
    const spec = attributes.object?.spec ?? {}
    const wanted = await this.#selectorOf(attributes.namespace)
    this.#refuseConflict(attributes, wanted, spec.nodeSelector ?? {})
    const merged = { ...spec.nodeSelector, ...wanted }
    if (Object.keys(merged).length > 0) spec.nodeSelector = merged
  }

  async validate(attributes: AdmissionAttributes<Pod>): Promise<void> {
    const selector = attributes.object?.spec?.nodeSelector ?? {}
    this.#refuseConflict(attributes, await this.#selectorOf(attributes.namespace), selector)
    const limit = this.#configured.get(attributes.namespace)
    if (limit === undefined || limit === '') return
    const allowed = parseSelector(limit)
    for (const [key, value] of Object.entries(selector)) {
      if (allowed[key] !== value)
        throw forbid(attributes, 'pod node label selector labels conflict with its namespace whitelist')
    }
  }

  #refuseConflict(
    attributes: AdmissionAttributes,
    wanted: Record<string, string>,
    given: Record<string, string>,
  ): void {
    for (const [key, value] of Object.entries(wanted)) {
      if ((ownMember(given, key) ?? value) !== value)
        throw forbid(attributes, 'pod node label selector conflicts with its namespace node label selector')
    }
  }

  async #selectorOf(namespace: string): Promise<Record<string, string>> {
    const found = await this.#objects.get(NAMESPACES, '', namespace)
    const text = found === undefined ? undefined : metadataOf(found).annotations?.[ANNOTATION]
    return parseSelector(text ?? this.#configured.get(CLUSTER_DEFAULT) ?? '')
  }
}

/** Reads a selector of the form `a=b,c=d`. */
function parseSelector(text: string): Record<string, string> {
  const pairs = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => part.split('=').map((word) => word.trim()) as [string, string | undefined])
  return Object.fromEntries(pairs.map(([key, value = '']) => [key, value]))
}

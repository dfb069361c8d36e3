/** Thread: pool. Pods get the tolerations of their namespace, and may have no others than it allows. */
import type { Pod, Toleration } from '../../api/generated/kinds/core.v1.js'
import type { JsonObject } from '../../api/object.js'
import { metadataOf } from '../../api/object.js'
import { newInternalError } from '../../api/status.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid, isAbout } from '../forbid.js'
import { type AdmissionObjects, NAMESPACES } from '../objects.js'
import { isBestEffort } from './pod.js'
import { covers, mergeTolerations } from './tolerations.js'

const DEFAULTS = 'scheduler.alpha.kubernetes.io/defaultTolerations'
const ALLOWED = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist'
/** The toleration of every pod that is not best effort: it may stay on a node that runs short of memory. */
const MEMORY_PRESSURE: Toleration = {
  key: 'node.kubernetes.io/memory-pressure',
  operator: 'Exists',
  effect: 'NoSchedule',
}

export class PodTolerationRestriction implements AdmissionPlugin<Pod> {
  readonly name = 'PodTolerationRestriction'
  readonly #objects: AdmissionObjects
  readonly #cluster: { readonly defaults: Toleration[]; readonly allowed: Toleration[] }

  constructor(objects: AdmissionObjects, config: JsonObject = {}) {
    this.#objects = objects
    this.#cluster = {
      defaults: (config['default'] ?? []) as unknown as Toleration[],
      allowed: (config['whitelist'] ?? []) as unknown as Toleration[],
    }
  }

  handles(attributes: AdmissionAttributes): boolean {
    return isAbout(attributes, '', 'pods', 'CREATE', 'UPDATE')
  }

  async admit(attributes: AdmissionAttributes<Pod>): Promise<void> {
    const { operation, object, namespace } = attributes
    const spec = object?.spec
    if (spec === undefined) return
    let tolerations = spec.tolerations ?? []
    if (operation === 'CREATE') {
      const defaults = (await this.#ofNamespace(namespace, DEFAULTS)) ?? this.#cluster.defaults
      if (defaults.length > 0) tolerations = mergeTolerations(defaults, tolerations)
    }
    if (!isBestEffort(spec)) tolerations = mergeTolerations(tolerations, [MEMORY_PRESSURE])
    if (tolerations.length > 0) spec.tolerations = tolerations
  }

  async validate(attributes: AdmissionAttributes<Pod>): Promise<void> {
    const tolerations = attributes.object?.spec?.tolerations ?? []
    const allowed = (await this.#ofNamespace(attributes.namespace, ALLOWED)) ?? this.#cluster.allowed
    if (allowed.length === 0) return
    for (const toleration of tolerations) {
      if (![...allowed, MEMORY_PRESSURE].some((one) => covers(one, toleration)))
        throw forbid(
          attributes,
          'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
        )
    }
  }

  async #ofNamespace(namespace: string, annotation: string): Promise<Toleration[] | undefined> {
    const found = await this.#objects.get(NAMESPACES, '', namespace)
    const text = found === undefined ? undefined : metadataOf(found).annotations?.[annotation]
    if (text === undefined || text === '') return undefined
    try {
      const value: unknown = JSON.parse(text)
      if (Array.isArray(value)) return value as Toleration[]
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
    throw newInternalError(`the annotation ${annotation} of namespace ${namespace} is no list of tolerations`)
  }
}

/** Thread: pool. Nothing is created in a namespace that does not exist or is ending, and some namespaces always stay. */
import type { KubeObject } from '../api/object.js'
import { newForbidden, newNotFound } from '../api/status.js'
import type { AdmissionAttributes, AdmissionPlugin } from './chain.js'

const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])
const NAMESPACES = { group: '', resource: 'namespaces' }

export class NamespaceLifecycle implements AdmissionPlugin {
  readonly name = 'NamespaceLifecycle'
  readonly #lookup: (name: string) => Promise<KubeObject | undefined>

  /** `lookup` gives the newest state of a namespace. */
  constructor(lookup: (name: string) => Promise<KubeObject | undefined>) {
    this.#lookup = lookup
  }

  handles({ operation }: AdmissionAttributes): boolean {
    return operation !== 'CONNECT'
  }

  async admit(attributes: AdmissionAttributes): Promise<void> {
    const { operation, resource, namespace, name } = attributes
    const isNamespace = resource.group === '' && resource.resource === 'namespaces'
    if (isNamespace && operation === 'DELETE' && IMMORTAL.has(name))
      throw newForbidden(NAMESPACES, name, 'this namespace may not be deleted')
    if (isNamespace || namespace === '' || operation !== 'CREATE') return
    // Access reviews are questions about a namespace, not objects in it.
    if (resource.group === 'authorization.k8s.io') return
    const found = await this.#lookup(namespace)
    if (found === undefined) throw newNotFound(NAMESPACES, namespace)
    if ((found['status'] as { phase?: string } | undefined)?.phase !== 'Terminating') return
    throw newForbidden(
      { group: resource.group, resource: resource.resource },
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    )
  }
}

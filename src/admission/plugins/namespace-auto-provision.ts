/** Thread: pool. A namespace is made when the first object is created in it. */
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { type AdmissionObjects, type AdmissionWriter, NAMESPACES } from '../objects.js'

export class NamespaceAutoProvision implements AdmissionPlugin {
  readonly name = 'NamespaceAutoProvision'
  readonly #objects: AdmissionObjects
  readonly #writer: AdmissionWriter

  constructor(objects: AdmissionObjects, writer: AdmissionWriter) {
    this.#objects = objects
    this.#writer = writer
  }

  handles({ operation, resource }: AdmissionAttributes): boolean {
    return operation === 'CREATE' && !(resource.group === '' && resource.resource === 'namespaces')
  }

  async admit({ namespace, dryRun }: AdmissionAttributes): Promise<void> {
    // A dry run leaves nothing behind, so it makes no namespace.
    if (namespace === '' || dryRun) return
    if ((await this.#objects.get(NAMESPACES, '', namespace)) !== undefined) return
    await this.#writer.createIfAbsent(NAMESPACES, '', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    })
  }
}

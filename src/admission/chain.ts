/**
 * Thread: pool. Admission: plugins that may change or refuse what is about to be written. Mutating ones run before the
 * strategy, validating ones on the finished object. Policies and webhooks are links like any other; any may be slow.
 */
import type { GroupVersionKind, GroupVersionResource } from '../api/group-version.js'
import type { KubeObject } from '../api/object.js'
import type { UserInfo } from '../api/user-info.js'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface AdmissionAttributes {
  readonly operation: AdmissionOperation
  readonly resource: GroupVersionResource
  readonly subresource: string
  readonly kind: GroupVersionKind
  readonly name: string
  readonly namespace: string
  /** Undefined for DELETE. Mutating plugins change it in place. */
  readonly object: KubeObject | undefined
  /** UPDATE and DELETE: what is stored. Not to be changed. */
  readonly oldObject: KubeObject | undefined
  readonly options: object
  readonly dryRun: boolean
  readonly user: UserInfo
  addWarning(text: string): void
}

export interface AdmissionPlugin {
  readonly name: string
  handles(attributes: AdmissionAttributes): boolean
  /** Throws a StatusError to refuse. */
  admit?(attributes: AdmissionAttributes): Promise<void> | void
  validate?(attributes: AdmissionAttributes): Promise<void> | void
}

export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins
  }

  async admit(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#plugins) {
      if (plugin.admit !== undefined && plugin.handles(attributes)) await plugin.admit(attributes)
    }
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#plugins) {
      if (plugin.validate !== undefined && plugin.handles(attributes)) await plugin.validate(attributes)
    }
  }
}

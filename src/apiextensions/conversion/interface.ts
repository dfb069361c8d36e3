/** Thread: pool. Objects of one custom resource in its other versions, where that takes asking somebody. */
import type { KubeObject } from '../../api/object.js'
import type { CancelSignal } from '../../lib/cancellation.js'

export interface ObjectConverter {
  /**
   * The objects in a version, in order; those that are in it already are given back as they are. The others are new objects. Throws
   * a StatusError when one of them cannot be converted.
   */
  convert(objects: readonly KubeObject[], apiVersion: string, signal?: CancelSignal): Promise<KubeObject[]>
  /** The same for objects as they were read: what was made of such a state is remembered. */
  convertStored(objects: readonly KubeObject[], apiVersion: string, signal?: CancelSignal): Promise<KubeObject[]>
}

/**
 * Thread: controllers. When the change happened that endpoints are written for: the annotation by which people measure how long
 * it takes until a pod is reachable. Holds one entry for each service that was synced, until it is deleted.
 */
import type { Service } from '../../api/generated/kinds/core.v1.js'
import type { EndpointPod } from './endpoint-pod.js'

export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time'

export class TriggerTimes {
  readonly #known = new Map<string, { readonly service: string; readonly pods: ReadonlyMap<string, string> }>()

  /** The earliest of the changes since the last call for this service; '' when nothing that has a time changed. */
  next(key: string, { metadata }: Service, pods: readonly EndpointPod[]): string {
    const before = this.#known.get(key)
    const created = metadata?.creationTimestamp ?? ''
    const times = new Map(pods.filter(({ changedAt }) => changedAt !== '').map((pod) => [pod.name, pod.changedAt]))
    this.#known.set(key, { service: created, pods: times })
    if (before === undefined) return created
    // Times of Kubernetes are in UTC and of one length, so that they sort as texts.
    const changed = [...times].filter(([name, at]) => at > (before.pods.get(name) ?? '')).map(([, at]) => at)
    if (created > before.service) changed.push(created)
    return changed.sort()[0] ?? ''
  }

  delete(key: string): void {
    this.#known.delete(key)
  }
}

/** Thread: any. The shape of ServiceCIDRs, and whether addresses may be taken from one. */
import type { KubeObject } from '../../../api/object.js'
import type { List } from '../../../api/validation/checks.js'

export interface ServiceCIDR extends KubeObject {
  spec?: { cidrs?: List<string> }
  status?: { conditions?: { type?: string; status?: string }[] }
}

/** One that says nothing of it is ready. */
export function isReady({ metadata, status }: ServiceCIDR): boolean {
  if (metadata?.deletionTimestamp !== undefined) return false
  const ready = (status?.conditions ?? []).find(({ type }) => type === 'Ready')
  return ready === undefined || ready.status === 'True'
}

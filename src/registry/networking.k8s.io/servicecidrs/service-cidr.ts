/** Thread: any. The shape of ServiceCIDRs, and whether addresses may be taken from one. */
import type { ServiceCIDR } from '../../../api/generated/kinds/networking.v1.js'

/** One that says nothing of it is ready. */
export function isReady({ metadata, status }: ServiceCIDR): boolean {
  if (metadata?.deletionTimestamp !== undefined) return false
  const ready = (status?.conditions ?? []).find(({ type }) => type === 'Ready')
  return ready === undefined || ready.status === 'True'
}

/** Thread: any. What can be told from an etcd server's version. */
import { lookupTable } from '../../lib/lookup-table.js'

/** The first version of each line that reports progress only after the events it covers. */
const FIRST_TRUSTED_PATCH: Readonly<Record<string, number>> = lookupTable({ '3.4': 25, '3.5': 8 })

/** Earlier servers answer a progress request beside the queue of events, and so too early. */
export function progressIsTrusted(version: string): boolean {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(version)
  if (match === null) return false
  const [major, minor, patch] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const firstPatch = FIRST_TRUSTED_PATCH[`${major}.${minor}`]
  if (firstPatch !== undefined) return patch >= firstPatch
  return major > 3 || (major === 3 && minor > 5)
}

/** Thread: any. Keeps the list of updaters short: the oldest share one entry a version, as "ancient-changes". */
import { union } from '../../../api/managed-fields/field-set.js'
import {
  type Managed,
  type Manager,
  managerIdentity,
  managerKey,
  seconds,
} from '../../../api/managed-fields/managed-fields.js'
import { compareText } from '../../../api/managed-fields/path-element.js'

/** Updaters beyond this many are folded together, oldest first. */
export const MAX_UPDATE_MANAGERS = 10

const OLD_UPDATES_MANAGER = 'ancient-changes'

/** Folds the oldest updaters of the map, which is changed, into one entry a version. */
export function capUpdateManagers(managed: Managed, limit = MAX_UPDATE_MANAGERS): void {
  const updaters = [...managed].filter(([, { manager }]) => manager.operation === 'Update')
  let count = updaters.length
  if (count <= limit) return
  updaters.sort(([, a], [, b]) => {
    const byTime = seconds(a.time) - seconds(b.time)
    return byTime || compareText(managerIdentity(a.manager), managerIdentity(b.manager))
  })
  const firstOfVersion = new Map<string, string>()
  for (const [key, owned] of updaters) {
    if (count <= limit) return
    const { apiVersion } = owned.manager
    const first = firstOfVersion.get(apiVersion)
    if (first === undefined) {
      firstOfVersion.set(apiVersion, key)
      continue
    }
    const manager: Manager = { name: OLD_UPDATES_MANAGER, operation: 'Update', apiVersion, subresource: '' }
    const bucket = managerKey(manager)
    const folded = managed.get(bucket) ?? managed.get(first)!
    if (!managed.has(bucket)) managed.delete(first)
    managed.delete(key)
    managed.set(bucket, { manager, set: union(owned.set, folded.set), time: owned.time })
    count--
  }
}

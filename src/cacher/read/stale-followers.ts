/**
 * Thread: any but the owner. Says that something in this thread rests on the last known state of a resource, because
 * the resource is not in memory now: one warning when it begins, one line when it is over, and a gauge meanwhile.
 */
import { parseGroupResource } from '../../api/group-version.js'
import type { Logger } from '../../lib/logger.js'
import { cacheFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { StaleListener } from './arena-follower.js'

export function staleFollowers(logger: Logger, recorder: Recorder): StaleListener {
  return (name, stale) => {
    const { group, resource } = parseGroupResource(name)
    recorder.series(cacheFamilies.staleFollowers, group, resource).add(stale ? 1 : -1)
    if (stale)
      logger.warn({ resource: name }, 'the resource is not in memory: what was last known of it stays in force')
    else logger.info({ resource: name }, 'the resource is in memory again, and what follows it is up to date')
  }
}

/**
 * Disks that are full, and disks that are slow to sync. Where nothing may be mounted or traced nothing happens, so that a seed means the
 * same faults everywhere.
 */
import type { Random } from '../../support/fuzz.js'
import { type Fault, onMember, onServer, over } from './fault.js'
import type { ManagedProcess } from './managed-process.js'
import { canTrace, SlowSyncs } from './slow-syncs.js'

/** From a disk that is shared with others to one that is about to fail; the last is a quarter of the rig's election timeout. */
const SYNC_DELAYS_MS = [10, 60, 200, 500]

/** Who serves answers well within this. */
const SERVING_MS = 1000

function slow({ pid }: ManagedProcess, random: Random): () => Promise<void> {
  const delayMs = random.pick(SYNC_DELAYS_MS)
  if (!canTrace || pid === undefined) return over
  const slowness = SlowSyncs.begin(pid, delayMs)
  return () => slowness.end()
}

export const DISK_FAULTS: readonly Fault[] = [
  onServer('full disk of a server', async (server) => {
    server.disk?.fill()
    // One that does not serve yet is being started: it may say that its disk is full, and end.
    if (server.disk !== undefined && (await server.ask('/livez', SERVING_MS)) === undefined)
      server.process.mayEnd = true
    return async () => {
      server.disk?.empty()
      if (server.process.mayEnd) server.start()
    }
  }),
  // A member whose disk is full ends, or stands still; one that ended is started again once there is room.
  onMember('full disk of a member', async (member, rig) => {
    member.process.mayEnd = true
    member.disk?.fill()
    return async () => {
      member.disk?.empty()
      await member.process.kill()
      member.start(rig.members, 'existing')
    }
  }),
  // A server beside etcd has nothing to sync.
  onServer('slow syncs of a server', async ({ process, storageLinks }, random) =>
    storageLinks.length > 0 ? over : slow(process, random),
  ),
  onMember('slow syncs of a member', async ({ process }, _, random) => slow(process, random)),
  onMember('slow syncs of the leader', async (any, rig, random) => slow(((await rig.leader()) ?? any).process, random)),
]

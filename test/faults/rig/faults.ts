/** What can go wrong: with servers, lines and members here, with disks, certificates and the webhook in files of their own. */
import { CERTIFICATE_FAULTS } from './certificate-faults.js'
import { DISK_FAULTS } from './disk-faults.js'
import type { EtcdMember } from './etcd-member.js'
import { DIRECTIONS, type Fault, onMember, onServer, over } from './fault.js'
import type { Direction } from './link.js'
import { Replacement } from './replacement.js'
import type { Rig } from './rig.js'
import { WEBHOOK_FAULTS } from './webhook-faults.js'

/** Nothing passes between a member and the others of its cluster, in one of the two ways or both. */
function isolate(member: EtcdMember, rig: Rig, directions: readonly Direction[]): () => Promise<void> {
  const others = rig.members.filter((one) => one !== member)
  member.peerLink.hold(directions)
  for (const other of others) other.peerLink.hold(directions, member.id)
  return async () => {
    member.peerLink.release()
    for (const other of others) other.peerLink.release(member.id)
  }
}

const SERVER_FAULTS: readonly Fault[] = [
  onServer('kill a server', async (server) => {
    await server.process.kill()
    return async () => server.start()
  }),
  onServer('stop a server', async (server) => {
    server.process.pause()
    return async () => server.process.resume()
  }),
  onServer('end a server', async (server) => {
    const ended = server.process.kill('SIGTERM')
    return async () => {
      await ended
      server.start()
    }
  }),
  onServer('cut clients at a byte', async ({ link }, random) => {
    link.cutAfter(random.pick(['forth', 'back']), 1 + random.below(4000))
    return over
  }),
  onServer('break clients', async ({ link }) => {
    link.breakAll()
    return over
  }),
  onServer('hold clients', async ({ link }, random) => {
    link.hold(random.pick(DIRECTIONS))
    return async () => link.release()
  }),
  onServer('delay clients', async ({ link }, random) => {
    link.delayMs = 20 + random.below(200)
    return async () => {
      link.delayMs = 0
    }
  }),
  // Not an hour ahead: events live so long, and on the embedded engine it is the server's clock that ends them.
  onServer('clock of a server jumps', async (server, random) => {
    server.setClock(random.pick([-86_400, -3600, -30, 30, 600, 1800]))
    return async () => server.setClock(0)
  }),
]

const LINK_FAULTS: readonly Fault[] = [
  onMember('cut storage at a byte', async (member, rig, random) => {
    const server = random.pick(rig.servers)
    server.storageLinks[rig.members.indexOf(member)]!.cutAfter(random.pick(['forth', 'back']), 1 + random.below(3000))
    return over
  }),
  onMember('break storage', async (_, rig, random) => {
    for (const link of random.pick(rig.servers).storageLinks) link.breakAll()
    return over
  }),
  onMember('hold a member from a server', async (member, rig, random) => {
    const link = random.pick(rig.servers).storageLinks[rig.members.indexOf(member)]!
    link.hold(random.pick(DIRECTIONS))
    return async () => link.release()
  }),
  onMember('hold all members from a server', async (_, rig, random) => {
    const { storageLinks } = random.pick(rig.servers)
    const directions = random.pick(DIRECTIONS)
    for (const link of storageLinks) link.hold(directions)
    return async () => {
      for (const link of storageLinks) link.release()
    }
  }),
  onMember('delay storage', async (_, rig, random) => {
    const { storageLinks } = random.pick(rig.servers)
    for (const link of storageLinks) link.delayMs = random.below(150)
    return async () => {
      for (const link of storageLinks) link.delayMs = 0
    }
  }),
  onMember('a server knows one member only', async (member, rig, random) => {
    const others = random.pick(rig.servers).storageLinks.filter((_, i) => i !== rig.members.indexOf(member))
    for (const link of others) {
      link.refuses = true
      link.breakAll()
    }
    return async () => {
      for (const link of others) link.refuses = false
    }
  }),
]

const MEMBER_FAULTS: readonly Fault[] = [
  // One server knows only a member that learns of everything late: what it does not know yet must not be told as the newest.
  onMember('a server reads from a lagging member', async (member, rig, random) => {
    const others = random.pick(rig.servers).storageLinks.filter((_, i) => i !== rig.members.indexOf(member))
    member.peerLink.delayMs = 300 + random.below(1200)
    for (const link of others) {
      link.refuses = true
      link.breakAll()
    }
    return async () => {
      member.peerLink.delayMs = 0
      for (const link of others) link.refuses = false
    }
  }),
  onMember('kill a member', async (member, rig) => {
    await member.process.kill()
    return async () => member.start(rig.members, 'existing')
  }),
  onMember('kill the leader', async (any, rig) => {
    const member = (await rig.leader()) ?? any
    await member.process.kill()
    return async () => member.start(rig.members, 'existing')
  }),
  onMember('kill all members', async (_, rig) => {
    await Promise.all(rig.members.map((member) => member.process.kill()))
    return async () => {
      for (const member of rig.members) member.start(rig.members, 'existing')
    }
  }),
  onMember('stop a member', async (member) => {
    member.process.pause()
    return async () => member.process.resume()
  }),
  onMember('stop the leader', async (any, rig) => {
    const member = (await rig.leader()) ?? any
    member.process.pause()
    return async () => member.process.resume()
  }),
  // It runs for a moment and stands still for one, all the time.
  onMember('a member goes by fits and starts', async (member) => {
    let isStill = false
    const timer = setInterval(() => {
      isStill = !isStill
      if (isStill) member.process.pause()
      else member.process.resume()
    }, 60)
    return async () => {
      clearInterval(timer)
      member.process.resume()
    }
  }),
  onMember('isolate a member', async (member, rig, random) => isolate(member, rig, random.pick(DIRECTIONS))),
  // Its servers still reach it: what it does not know yet must not be read from it.
  onMember('isolate the leader', async (any, rig) => isolate((await rig.leader()) ?? any, rig, ['forth', 'back'])),
  onMember('hold a pair of members', async (member, rig, random) => {
    const other = random.pick(rig.members.filter((one) => one !== member))
    member.peerLink.hold(random.pick(DIRECTIONS), other.id)
    return async () => member.peerLink.release(other.id)
  }),
  onMember('delay members', async (_, rig, random) => {
    for (const { peerLink } of rig.members) peerLink.delayMs = random.below(60)
    return async () => {
      for (const { peerLink } of rig.members) peerLink.delayMs = 0
    }
  }),
]

const UPKEEP_FAULTS: readonly Fault[] = [
  onMember('compact', async (member) => {
    const status = await member.call<{ header: { revision: string } }>('maintenance/status')
    if (status !== undefined) await member.call('kv/compaction', { revision: status.header.revision, physical: true })
    return over
  }),
  onMember('defragment', async (member) => {
    const done = member.call('maintenance/defragment')
    return async () => void (await done)
  }),
  onMember('move the leader', async (target, rig) => {
    const leader = await rig.leader()
    const targetId = BigInt(`0x${target.id || '0'}`).toString()
    if (leader !== undefined && leader !== target)
      await leader.call('maintenance/transfer-leadership', { targetID: targetId })
    return over
  }),
  // What etcd does when its database has reached its quota: it refuses writes until the alarm is taken back.
  onMember('etcd is full', async (member, rig) => {
    const alarm = { memberID: BigInt(`0x${member.id || '0'}`).toString(), alarm: 'NOSPACE' }
    await member.call('maintenance/alarm', { ...alarm, action: 'ACTIVATE' })
    // The member may be gone by then, or there is no majority: whoever looks after the rig next does it.
    return async () => void (await rig.takeBackAlarms())
  }),
  // One at a time: of three members two are the majority.
  onMember('replace a member', async (member, rig) => {
    const replacement = await Replacement.begin(member, rig)
    return async () => replacement?.finish()
  }),
]

export const FAULTS: readonly Fault[] = [
  ...SERVER_FAULTS,
  ...LINK_FAULTS,
  ...MEMBER_FAULTS,
  ...UPKEEP_FAULTS,
  ...DISK_FAULTS,
  ...CERTIFICATE_FAULTS,
  ...WEBHOOK_FAULTS,
]

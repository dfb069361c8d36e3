/**
 * A snapshot of etcd, and a new cluster made of it, as an administrator does it: every member is ended, gets a folder made of the same file,
 * and is started again. What was written after the snapshot is lost. Debian's etcd 3.4 can neither move the revision on nor mark what is lost as
 * compacted, so revisions are used a second time.
 */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { type EtcdMember, initialCluster } from './etcd-member.js'
import type { Rig } from './rig.js'

const run = promisify(execFile)
const env = { ...process.env, ETCDCTL_API: '3' }
const isThere = (tool: string): boolean => spawnSync(tool, ['version'], { stdio: 'ignore', env }).status === 0
/** From 3.6 on etcdctl does not restore. */
const RESTORER = isThere('etcdutl') ? 'etcdutl' : 'etcdctl'

export const skipWithoutTools = isThere('etcdctl') ? false : 'etcdctl is not on the PATH'

/** The member has everything that was acknowledged before. */
export async function saveSnapshot(member: EtcdMember, file: string): Promise<void> {
  await run('etcdctl', ['--endpoints', member.url, 'get', 'any'], { env })
  await run('etcdctl', ['--endpoints', member.url, 'snapshot', 'save', file], { env })
}

export async function restoreSnapshot({ members }: Rig, file: string): Promise<void> {
  await Promise.all(members.map((member) => member.process.kill()))
  for (const member of members) {
    member.renew()
    const flags = [
      ['--name', member.name],
      ['--data-dir', member.dataDir],
      ['--initial-cluster', initialCluster(members)],
      ['--initial-advertise-peer-urls', member.peerLink.url],
    ].flat()
    await run(RESTORER, ['snapshot', 'restore', file, ...flags], { env })
  }
  for (const member of members) member.start(members, 'existing')
  await Promise.all(members.map((member) => member.served()))
}

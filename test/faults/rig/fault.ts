/** A fault begins, lasts for a while and is over; nothing in it waits for anything that the fault itself prevents. */
import type { Random } from '../../support/fuzz.js'
import type { ApiServer } from './api-server.js'
import type { EtcdMember } from './etcd-member.js'
import type { Direction } from './link.js'
import type { Rig } from './rig.js'

export interface Fault {
  readonly name: string
  /** Needs an etcd cluster. */
  readonly needsEtcd: boolean
  /** Needs a run in which everybody talks TLS. */
  readonly needsTls: boolean
  /** Gives what ends it. */
  readonly begin: (rig: Rig, random: Random) => Promise<() => Promise<void>>
}

/** The end of a fault that is over at once. */
export const over = (): Promise<void> => Promise.resolve()
export const DIRECTIONS: readonly (readonly Direction[])[] = [['forth'], ['back'], ['forth', 'back']]

export function onServer(
  name: string,
  begin: (server: ApiServer, random: Random, rig: Rig) => Promise<() => Promise<void>>,
): Fault {
  return {
    name,
    needsEtcd: false,
    needsTls: false,
    begin: (rig, random) => begin(random.pick(rig.servers), random, rig),
  }
}

export function onMember(
  name: string,
  begin: (member: EtcdMember, rig: Rig, random: Random) => Promise<() => Promise<void>>,
): Fault {
  return {
    name,
    needsEtcd: true,
    needsTls: false,
    begin: (rig, random) => begin(random.pick(rig.members), rig, random),
  }
}

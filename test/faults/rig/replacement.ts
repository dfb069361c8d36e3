/**
 * A member is replaced by an empty one, as an administrator does it: it is removed, added again under its address, and started with a new
 * folder. Each step is asked for until it is known to be done, because a request without an answer may have been done too; and while it
 * is under way nobody else starts the member: on its old folder it would find itself removed, and end.
 *
 *   whole ──begin──▶ retired ──removed──▶ retired, killed ──finish: added──▶ joining ──has a leader──▶ whole
 */
import { until } from '../../support/until.js'
import type { EtcdMember } from './etcd-member.js'
import type { Rig } from './rig.js'

interface MemberEntry {
  readonly ID: string
  readonly peerURLs?: readonly string[]
}

/** Other faults may keep the majority away for as long as they last. */
const PATIENCE = { deadlineMs: 600_000, everyMs: 200 }
/** Any key: what is asked is whether the answer is the newest. */
const SOME_KEY = { key: Buffer.from('a').toString('base64') }

export class Replacement {
  readonly #member: EtcdMember
  readonly #rig: Rig
  readonly #others: readonly EtcdMember[]
  /** The number that the member has had. */
  #removed = ''

  private constructor(member: EtcdMember, rig: Rig) {
    this.#member = member
    this.#rig = rig
    this.#others = rig.members.filter((one) => one !== member)
  }

  /** Undefined while another one is under way. */
  static async begin(member: EtcdMember, rig: Rig): Promise<Replacement | undefined> {
    if (rig.members.some(({ part }) => part !== 'whole')) return undefined
    member.part = 'retired'
    // One that hears of its removal ends by itself.
    member.process.mayEnd = true
    const replacement = new Replacement(member, rig)
    await until(() => replacement.#remove(), { what: `${member.name} to be removed`, ...PATIENCE })
    await member.process.kill()
    return replacement
  }

  async finish(): Promise<void> {
    const [member, rig] = [this.#member, this.#rig]
    await until(() => this.#add(), { what: `${member.name} to be added`, ...PATIENCE })
    member.renew()
    member.part = 'joining'
    const hasJoined = async (): Promise<boolean> => {
      // One that could not ask its peers for the cluster has ended.
      if (!member.process.isRunning) member.start(rig.members, 'existing')
      return member.hasLeader()
    }
    await until(hasJoined, { what: `${member.name} to join`, ...PATIENCE })
    member.part = 'whole'
    member.process.mayEnd = false
    await rig.identify()
  }

  /** Whether it is removed by now. */
  async #remove(): Promise<boolean> {
    for (const other of this.#others) {
      const entry = await this.#entry(other)
      if (entry === undefined) continue
      if (entry === 'none') return this.#removed !== ''
      this.#removed = entry
      if ((await other.call('cluster/member/remove', { ID: entry })) !== undefined) return true
    }
    return false
  }

  /** Whether it is added by now, with a number of its own. */
  async #add(): Promise<boolean> {
    for (const other of this.#others) {
      const entry = await this.#entry(other)
      if (entry === undefined || entry === this.#removed) continue
      if (entry !== 'none') return true
      const peerURLs = [this.#member.peerLink.url]
      if ((await other.call('cluster/member/add', { peerURLs })) !== undefined) return true
    }
    return false
  }

  /** The member's number, as one of the others knows it for certain; undefined when that cannot be told now. */
  async #entry(asked: EtcdMember): Promise<string | undefined> {
    // A member tells the list that it has, and has everything that was decided before a linearizable read of it.
    if ((await asked.call('kv/range', SOME_KEY)) === undefined) return undefined
    const list = await asked.call<{ members?: readonly MemberEntry[] }>('cluster/member/list')
    if (list?.members === undefined) return undefined
    const { url } = this.#member.peerLink
    const entry = list.members.find(({ peerURLs = [] }) => peerURLs.includes(url))
    return entry?.ID ?? 'none'
  }
}

/** Three members of etcd and two servers, or one server on the embedded engine, with a line between any two that talk. */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { until } from '../../support/until.js'
import { ApiServer } from './api-server.js'
import { Certificates } from './certificates.js'
import { EtcdMember, hexOf } from './etcd-member.js'
import { Link } from './link.js'

export type StorageKind = 'etcd' | 'embedded'

const MEMBERS = ['m0', 'm1', 'm2']

export interface RigOptions {
  readonly storage: StorageKind
  readonly folder: string
  readonly smallDisks?: boolean
  /** Everybody but the members among themselves talks TLS: whom a peer's connection is from is read from its first bytes. */
  readonly tls?: boolean
  /** Where the webhook listens. */
  readonly webhookPort: number
}

type Parts = Pick<Rig, 'storage' | 'servers' | 'members' | 'certificates' | 'webhookLink'>

export class Rig {
  readonly storage: StorageKind
  readonly servers: readonly ApiServer[]
  readonly members: readonly EtcdMember[]

  /** Undefined: everybody talks plain HTTP. */
  readonly certificates: Certificates | undefined
  /** From all servers to the webhook. */
  readonly webhookLink: Link

  private constructor({ storage, servers, members, certificates, webhookLink }: Parts) {
    this.storage = storage
    this.servers = servers
    this.members = members
    this.certificates = certificates
    this.webhookLink = webhookLink
  }

  static async start({ storage, folder, smallDisks = false, tls = false, webhookPort }: RigOptions): Promise<Rig> {
    mkdirSync(folder, { recursive: true })
    const certificates = tls ? await Certificates.create(path.join(folder, 'tls')) : undefined
    const options = { folder, smallDisks, certificates }
    const members: EtcdMember[] = []
    if (storage === 'etcd') for (const name of MEMBERS) members.push(await EtcdMember.create({ ...options, name }))
    const servers: ApiServer[] = []
    const memberPorts = members.map(({ clientPort }) => clientPort)
    for (const name of storage === 'etcd' ? ['a', 'b'] : ['a'])
      servers.push(await ApiServer.create({ ...options, name, memberPorts }))
    const rig = new Rig({ storage, servers, members, certificates, webhookLink: await Link.open(webhookPort) })
    try {
      for (const member of members) member.start(members)
      await Promise.all(members.map((member) => member.served()))
      await rig.identify()
      // One after the other: the first makes what every cluster has.
      for (const server of servers) {
        server.start()
        await server.ready()
      }
    } catch (error) {
      await rig.stop()
      throw error
    }
    return rig
  }

  /** Learns the members' numbers, which change when one is replaced. */
  async identify(): Promise<void> {
    for (const member of this.members) {
      const list = await member.call<{ header: { member_id: string } }>('cluster/member/list')
      if (list !== undefined) member.id = hexOf(list.header.member_id)
    }
  }

  /** The member that leads, if any answers. */
  async leader(): Promise<EtcdMember | undefined> {
    for (const member of this.members) {
      if (!member.process.isRunning) continue
      const status = await member.call<{ leader?: string }>('maintenance/status')
      const leader = status?.leader
      if (leader !== undefined) return this.members.find(({ id }) => id === hexOf(leader))
    }
    return undefined
  }

  /** Everything runs, every line is whole, and every server says that it is ready. */
  async heal(): Promise<void> {
    this.webhookLink.heal()
    await this.certificates?.renewAll()
    for (const member of this.members) {
      member.peerLink.heal()
      member.disk?.empty()
      member.process.resume()
      if (!member.process.isRunning) member.start(this.members, 'existing')
    }
    for (const server of this.servers) {
      for (const link of [server.link, ...server.storageLinks]) link.heal()
      server.setClock(0)
      server.disk?.empty()
      server.process.resume()
      server.start()
    }
    await Promise.all(this.members.map((member) => member.served()))
    await until(() => this.takeBackAlarms(), { what: 'no alarm', everyMs: 100 })
    await Promise.all(this.servers.map((server) => server.ready()))
  }

  /** False when some alarm of etcd may be left, because no member could be asked. */
  async takeBackAlarms(): Promise<boolean> {
    if (this.members.length === 0) return true
    for (const member of this.members) {
      const found = await member.call<{ alarms?: readonly { memberID: string; alarm: string }[] }>(
        'maintenance/alarm',
        {
          action: 'GET',
        },
      )
      if (found === undefined) continue
      const back = await Promise.all(
        (found.alarms ?? []).map((alarm) => member.call('maintenance/alarm', { ...alarm, action: 'DEACTIVATE' })),
      )
      if (back.every((answer) => answer !== undefined)) return true
    }
    return false
  }

  /** What ended though nobody killed it. */
  get unexpected(): string[] {
    return [...this.servers, ...this.members].flatMap(({ name, process }) =>
      process.unexpected === undefined ? [] : [`${name}: ${process.unexpected}`],
    )
  }

  async stop(): Promise<void> {
    for (const server of this.servers) await server.stop()
    for (const member of this.members) await member.stop()
    await this.webhookLink.close()
  }
}

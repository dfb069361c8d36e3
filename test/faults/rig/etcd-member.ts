/** A member of the rig's etcd cluster: its peers reach it over a line of its own, which knows them by the header they send. */
import { rmSync } from 'node:fs'
import path from 'node:path'
import { freePort } from '../../support/free-port.js'
import { until } from '../../support/until.js'
import type { Certificates } from './certificates.js'
import { Link } from './link.js'
import { ManagedProcess } from './managed-process.js'
import { SmallDisk } from './small-disk.js'

export interface MemberOptions {
  readonly name: string
  readonly folder: string
  readonly smallDisks: boolean
  /** Undefined: whoever talks to it talks plain HTTP. */
  readonly certificates: Certificates | undefined
}

/** Where it listens: servers come to the first of them over a line, the rig itself to the second, peers to the third over a line. */
interface MemberPorts {
  readonly client: number
  readonly rig: number
  readonly peer: number
}

/** etcd's JSON form of a request that can take long, such as defragmentation. */
const CALL_MS = 15_000

/** Two pieces of its log of 64 MB each, made in advance, and what a run stores. */
const DISK_MEGABYTES = 220

/** Raft messages name the member that sends them. */
const SENDER = /x-server-from: ([0-9a-f]+)/i

export class EtcdMember {
  readonly name: string
  readonly clientPort: number
  readonly peerLink: Link
  readonly process: ManagedProcess
  readonly disk: SmallDisk | undefined
  readonly #folder: string
  readonly #ports: MemberPorts
  readonly #certificates: Certificates | undefined
  #generation = 0
  /** While it is replaced: see Replacement. */
  part: 'whole' | 'retired' | 'joining' = 'whole'
  /** As raft messages name it; known once the cluster runs. */
  id = ''

  private constructor({ name, folder, smallDisks, certificates }: MemberOptions, ports: MemberPorts, peerLink: Link) {
    this.name = name
    this.clientPort = ports.client
    this.peerLink = peerLink
    this.#folder = path.join(folder, name)
    this.disk = smallDisks ? SmallDisk.mount(this.#folder, DISK_MEGABYTES) : undefined
    this.#ports = ports
    this.#certificates = certificates
    this.process = new ManagedProcess({ command: 'etcd', args: [], logFile: path.join(folder, `${name}.log`) })
  }

  static async create(options: MemberOptions): Promise<EtcdMember> {
    const [client, rig, peer] = [await freePort(), await freePort(), await freePort()]
    await options.certificates?.issue(options.name)
    const peerLink = await Link.open(peer, (first) => SENDER.exec(first.toString('latin1'))?.[1])
    return new EtcdMember(options, { client, rig, peer }, peerLink)
  }

  /** Where the rig and its tools talk to it: plain HTTP, whatever servers must show. */
  get url(): string {
    return `http://127.0.0.1:${this.#ports.rig}`
  }

  get dataDir(): string {
    return path.join(this.#folder, `data-${this.#generation}`)
  }

  /** With a new folder: as a member that replaces the one before, or restored from a snapshot. */
  renew(): void {
    rmSync(this.dataDir, { recursive: true, force: true })
    this.#generation++
  }

  start(cluster: readonly EtcdMember[], state: 'new' | 'existing' = 'new'): void {
    if (this.part === 'retired') return
    const forServers = `${this.#certificates === undefined ? 'http' : 'https'}://127.0.0.1:${this.clientPort}`
    const args = [
      ['--name', this.name],
      ['--data-dir', this.dataDir],
      ['--listen-client-urls', `${forServers},${this.url}`],
      ['--advertise-client-urls', forServers],
      ['--listen-peer-urls', `http://127.0.0.1:${this.#ports.peer}`],
      ['--initial-advertise-peer-urls', this.peerLink.url],
      ['--initial-cluster', initialCluster(cluster)],
      ['--initial-cluster-state', state],
      // So that one that was away for a moment gets a snapshot instead of the log.
      ['--snapshot-count', '500'],
      // Twice what etcd has by itself: a busy machine keeps a process waiting for a second now and then.
      ['--heartbeat-interval', '200'],
      ['--election-timeout', '2000'],
      ['--log-level', 'error'],
      ...this.#tlsFlags(),
    ].flat()
    this.process.change({ args })
    this.process.start()
    // Another fault may have it started while its disk is full.
    if (this.part === 'joining' || this.disk?.isFull === true) this.process.mayEnd = true
  }

  /** etcd reads the pair again for every connection. */
  #tlsFlags(): string[][] {
    if (this.#certificates === undefined) return []
    const { certFile, keyFile } = this.#certificates.files(this.name)
    return [
      ['--cert-file', certFile],
      ['--key-file', keyFile],
      ['--trusted-ca-file', this.#certificates.authorityFile, '--client-cert-auth'],
    ]
  }

  /** A call in etcd's JSON form, straight to this member; undefined when it does not answer well. */
  async call<T>(method: string, body: object = {}): Promise<T | undefined> {
    try {
      const answer = await fetch(`${this.url}/v3/${method}`, {
        method: 'POST',
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(CALL_MS),
      })
      return answer.ok ? ((await answer.json()) as T) : undefined
    } catch (error) {
      // Whoever is killed or stopped does not answer.
      if (error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError')) return undefined
      throw error
    }
  }

  /** Answers with a leader in sight. */
  async hasLeader(): Promise<boolean> {
    return Number((await this.call<{ leader?: string }>('maintenance/status'))?.leader ?? 0) > 0
  }

  async served(): Promise<void> {
    await until(() => this.hasLeader(), {
      what: `${this.name} to have a leader`,
      deadlineMs: 600_000,
      everyMs: 100,
    })
  }

  async stop(): Promise<void> {
    await this.process.kill()
    await this.peerLink.close()
    this.disk?.unmount()
  }
}

/** As etcd's flags name all members with their addresses for each other. */
export const initialCluster = (members: readonly EtcdMember[]): string =>
  members.map(({ name, peerLink }) => `${name}=${peerLink.url}`).join(',')

/** A member's number as JSON has it (decimal) and as messages have it (hexadecimal). */
export const hexOf = (id: string): string => BigInt(id).toString(16)

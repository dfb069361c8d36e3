/** A member of the rig's etcd cluster: its peers reach it over a line of its own, which knows them by the header they send. */
import { rmSync } from 'node:fs'
import path from 'node:path'
import { freePort } from '../../support/free-port.js'
import { until } from '../../support/until.js'
import { Link } from './link.js'
import { ManagedProcess } from './managed-process.js'
import { SmallDisk } from './small-disk.js'

export interface MemberOptions {
  readonly name: string
  readonly folder: string
  readonly smallDisks: boolean
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
  readonly #peerPort: number
  #generation = 0
  /** As raft messages name it; known once the cluster runs. */
  id = ''

  private constructor(
    { name, folder, smallDisks }: MemberOptions,
    clientPort: number,
    peerPort: number,
    peerLink: Link,
  ) {
    this.name = name
    this.clientPort = clientPort
    this.peerLink = peerLink
    this.#folder = path.join(folder, name)
    this.disk = smallDisks ? SmallDisk.mount(this.#folder, DISK_MEGABYTES) : undefined
    this.#peerPort = peerPort
    this.process = new ManagedProcess({ command: 'etcd', args: [], logFile: path.join(folder, `${name}.log`) })
  }

  static async create(options: MemberOptions): Promise<EtcdMember> {
    const peerPort = await freePort()
    const peerLink = await Link.open(peerPort, (first) => SENDER.exec(first.toString('latin1'))?.[1])
    return new EtcdMember(options, await freePort(), peerPort, peerLink)
  }

  get url(): string {
    return `http://127.0.0.1:${this.clientPort}`
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
    const initial = cluster.map(({ name, peerLink }) => `${name}=${peerLink.url}`).join(',')
    const args = [
      ['--name', this.name],
      ['--data-dir', this.dataDir],
      ['--listen-client-urls', this.url],
      ['--advertise-client-urls', this.url],
      ['--listen-peer-urls', `http://127.0.0.1:${this.#peerPort}`],
      ['--initial-advertise-peer-urls', this.peerLink.url],
      ['--initial-cluster', initial],
      ['--initial-cluster-state', state],
      // So that one that was away for a moment gets a snapshot instead of the log.
      ['--snapshot-count', '500'],
      // Twice what etcd has by itself: a busy machine keeps a process waiting for a second now and then.
      ['--heartbeat-interval', '200'],
      ['--election-timeout', '2000'],
      ['--log-level', 'error'],
    ].flat()
    this.process.change({ args })
    this.process.start()
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
  async served(): Promise<void> {
    await until(async () => Number((await this.call<{ leader?: string }>('maintenance/status'))?.leader ?? 0) > 0, {
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

/** A member's number as JSON has it (decimal) and as messages have it (hexadecimal). */
export const hexOf = (id: string): string => BigInt(id).toString(16)

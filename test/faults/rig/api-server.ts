/** A Keelson server of the rig, reached by clients over a line of its own, so that its address outlives it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../support/free-port.js'
import { until } from '../../support/until.js'
import { Link } from './link.js'
import { ManagedProcess } from './managed-process.js'
import { SmallDisk } from './small-disk.js'

const WRONG_CLOCK = fileURLToPath(new URL('wrong-clock.cjs', import.meta.url))
/** What a run stores on the embedded engine is a small part of it. */
const DISK_MEGABYTES = 64

/** A start takes two seconds of processor, of which a machine that does other things may give little. */
const READY_WITHIN_MS = 600_000

export interface ServerOptions {
  readonly name: string
  readonly folder: string
  /** None: the embedded engine. */
  readonly memberPorts: readonly number[]
  readonly smallDisks: boolean
}

interface Parts extends Pick<ApiServer, 'name' | 'process' | 'link' | 'storageLinks' | 'disk'> {
  readonly port: number
  readonly clock: string
}

export class ApiServer {
  readonly name: string
  readonly process: ManagedProcess
  /** From clients to it. */
  readonly link: Link
  /** From it to each member of etcd; none on the embedded engine. */
  readonly storageLinks: readonly Link[]
  /** Under the folder of the embedded engine, where it may be mounted and was asked for. */
  readonly disk: SmallDisk | undefined
  readonly #port: number
  readonly #clock: string

  private constructor(parts: Parts) {
    this.name = parts.name
    this.#port = parts.port
    this.link = parts.link
    this.storageLinks = parts.storageLinks
    this.process = parts.process
    this.#clock = parts.clock
    this.disk = parts.disk
  }

  static async create({ name, folder, memberPorts, smallDisks }: ServerOptions): Promise<ApiServer> {
    const port = await freePort()
    const storageLinks = await Promise.all(memberPorts.map((target) => Link.open(target)))
    const own = path.join(folder, name)
    mkdirSync(own, { recursive: true })
    const dataDir = path.join(own, 'data')
    const disk = smallDisks && memberPorts.length === 0 ? SmallDisk.mount(dataDir, DISK_MEGABYTES) : undefined
    const storage =
      storageLinks.length > 0
        ? [`--etcd-servers=${storageLinks.map(({ url }) => url).join(',')}`]
        : [`--data-dir=${path.join(dataDir, 'store')}`]
    const args = [
      'bundle/main/index.js',
      `--secure-port=${port}`,
      `--cert-dir=${path.join(own, 'certs')}`,
      '--insecure-http',
      '--authorization-mode=AlwaysAllow',
      ...storage,
    ]
    const logFile = path.join(folder, `${name}.log`)
    const clock = path.join(own, 'clock')
    writeFileSync(clock, '0')
    const env = { NODE_OPTIONS: `--require ${WRONG_CLOCK}`, FAULTS_CLOCK: clock }
    const started = new ManagedProcess({ command: process.execPath, args, logFile, env })
    return new ApiServer({ name, port, link: await Link.open(port), storageLinks, process: started, clock, disk })
  }

  start(): void {
    this.process.start()
  }

  /** Its clock jumps by so many seconds from what is right; 0 sets it right. */
  setClock(seconds: number): void {
    writeFileSync(this.#clock, String(seconds * 1000))
  }

  /** Straight to it, not over its line; undefined when there is no answer. */
  async ask(target: string, patienceMs = 5000): Promise<{ status: number; text: string } | undefined> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.#port}${target}`, { signal: AbortSignal.timeout(patienceMs) })
      return { status: answer.status, text: await answer.text() }
    } catch (error) {
      if (error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError')) return undefined
      throw error
    }
  }

  ready(): Promise<void> {
    const isReady = async (): Promise<boolean> => {
      if (this.process.unexpected !== undefined) throw new Error(`${this.name}: ${this.process.unexpected}`)
      return (await this.ask('/readyz'))?.status === 200
    }
    return until(isReady, { what: `${this.name} to be ready`, deadlineMs: READY_WITHIN_MS, everyMs: 100 })
  }

  async stop(): Promise<void> {
    await this.process.kill()
    for (const link of [this.link, ...this.storageLinks]) await link.close()
    this.disk?.unmount()
  }
}

/** A Keelson server of the rig, reached by clients over a line of its own, so that its address outlives it. */
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { freePort } from '../../support/free-port.js'
import { until } from '../../support/until.js'
import { Link } from './link.js'
import { ManagedProcess } from './managed-process.js'

/** Where Debian's package has it. A process that is started with it sees another time. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
export const canFakeTime = existsSync(FAKETIME)

const READY_WITHIN_MS = 120_000

export class ApiServer {
  readonly name: string
  readonly process: ManagedProcess
  /** From clients to it. */
  readonly link: Link
  /** From it to each member of etcd; none on the embedded engine. */
  readonly storageLinks: readonly Link[]
  readonly #port: number

  private constructor(name: string, port: number, link: Link, storageLinks: readonly Link[], process: ManagedProcess) {
    this.name = name
    this.#port = port
    this.link = link
    this.storageLinks = storageLinks
    this.process = process
  }

  static async create(name: string, folder: string, memberPorts: readonly number[]): Promise<ApiServer> {
    const port = await freePort()
    const storageLinks = await Promise.all(memberPorts.map((target) => Link.open(target)))
    const own = path.join(folder, name)
    mkdirSync(own, { recursive: true })
    const storage =
      storageLinks.length > 0
        ? [`--etcd-servers=${storageLinks.map(({ url }) => url).join(',')}`]
        : [`--data-dir=${path.join(own, 'data')}`]
    const args = [
      'bundle/main/index.js',
      `--secure-port=${port}`,
      `--cert-dir=${path.join(own, 'certs')}`,
      '--insecure-http',
      '--authorization-mode=AlwaysAllow',
      ...storage,
    ]
    const logFile = path.join(folder, `${name}.log`)
    return new ApiServer(
      name,
      port,
      await Link.open(port),
      storageLinks,
      new ManagedProcess({ command: process.execPath, args, logFile }),
    )
  }

  start(): void {
    this.process.start()
  }

  /** Starts with a clock that is wrong by so many seconds, from the next start on; 0 sets it right. */
  setClock(seconds: number): void {
    const sign = seconds < 0 ? '-' : '+'
    this.process.change({
      env:
        seconds === 0
          ? {}
          : { LD_PRELOAD: FAKETIME, FAKETIME: `${sign}${Math.abs(seconds)}s`, FAKETIME_DONT_FAKE_MONOTONIC: '1' },
    })
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
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from './free-port.js'
import { until } from './until.js'

/** False when there is no etcd: tests that need one skip, saying so. scripts/test.mjs decides. */
export const etcdAvailable = process.env['KEELSON_TEST_ETCD'] !== 'no'
export const skipWithoutEtcd = etcdAvailable ? false : 'etcd is not on the PATH'

export interface EtcdServerOptions {
  readonly args?: readonly string[]
  /** Keep the same folder and port over a restart. */
  readonly dataDir?: string
  readonly port?: number
  readonly scheme?: 'http' | 'https'
}

/** A real etcd on loopback with its own folder; stopped by its own process id. */
export class EtcdServer {
  readonly endpoint: string
  readonly port: number
  readonly dataDir: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, endpoint: string, port: number, dataDir: string) {
    this.#child = child
    this.endpoint = endpoint
    this.port = port
    this.dataDir = dataDir
  }

  static async start(options: EtcdServerOptions = {}): Promise<EtcdServer> {
    const dataDir = options.dataDir ?? mkdtempSync(path.join(tmpdir(), 'keelson-etcd-'))
    const port = options.port ?? (await freePort())
    const peerPort = await freePort()
    const endpoint = `${options.scheme ?? 'http'}://127.0.0.1:${port}`
    const child = spawn(
      'etcd',
      [
        '--data-dir',
        dataDir,
        '--listen-client-urls',
        endpoint,
        '--advertise-client-urls',
        endpoint,
        '--listen-peer-urls',
        `http://127.0.0.1:${peerPort}`,
        '--initial-advertise-peer-urls',
        `http://127.0.0.1:${peerPort}`,
        '--initial-cluster',
        `default=http://127.0.0.1:${peerPort}`,
        '--log-level',
        'error',
        ...(options.args ?? []),
      ],
      { stdio: 'ignore' },
    )
    const server = new EtcdServer(child, endpoint, port, dataDir)
    await server.#accepting()
    return server
  }

  async #accepting(): Promise<void> {
    const accepts = (): Promise<boolean> => {
      if (this.#child.exitCode !== null) throw new Error(`etcd ended with code ${this.#child.exitCode}`)
      return new Promise<boolean>((resolve) => {
        const socket = net.connect(this.port, '127.0.0.1', () => {
          socket.destroy()
          resolve(true)
        })
        socket.on('error', () => resolve(false))
      })
    }
    await until(accepts, { what: 'etcd to accept connections' })
  }

  /** Returns when it stands still: a signal takes effect a moment after it is sent. */
  pause(): void {
    this.#child.kill('SIGSTOP')
    while (!this.#standsStill()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
  }

  /** Every thread of it is stopped; where there is no /proc the signal must do. */
  #standsStill(): boolean {
    const tasks = `/proc/${this.#child.pid}/task`
    if (!existsSync(tasks)) return true
    return readdirSync(tasks).every((task) => {
      const stat = readFileSync(path.join(tasks, task, 'stat'), 'utf8')
      return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T')
    })
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  /** Stops the process and keeps the folder. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGCONT')
    this.#child.kill(signal)
    await ended
  }

  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}

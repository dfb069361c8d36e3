/** A Keelson server of the rig, reached by clients over a line of its own, so that its address outlives it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../support/free-port.js'
import { until } from '../../support/until.js'
import type { Certificates } from './certificates.js'
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
  /** Undefined: everybody talks plain HTTP. */
  readonly certificates: Certificates | undefined
}

/** What a client of a server with TLS believes and shows. */
export interface Credentials {
  /** PEM */
  readonly ca: string
  readonly token: string
}

interface Parts extends Pick<ApiServer, 'name' | 'process' | 'link' | 'storageLinks' | 'disk' | 'credentials'> {
  readonly port: number
  readonly clock: string
}

const TOKEN = 'of-the-load'

export class ApiServer {
  readonly name: string
  readonly process: ManagedProcess
  /** From clients to it. */
  readonly link: Link
  /** From it to each member of etcd; none on the embedded engine. */
  readonly storageLinks: readonly Link[]
  /** Under the folder of the embedded engine, where it may be mounted and was asked for. */
  readonly disk: SmallDisk | undefined
  /** Undefined: it serves plain HTTP and asks nobody who it is. */
  readonly credentials: Credentials | undefined
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
    this.credentials = parts.credentials
  }

  static async create(options: ServerOptions): Promise<ApiServer> {
    const { name, folder, memberPorts, smallDisks, certificates } = options
    const port = await freePort()
    const storageLinks = await Promise.all(memberPorts.map((target) => Link.open(target)))
    const own = path.join(folder, name)
    mkdirSync(own, { recursive: true })
    const dataDir = path.join(own, 'data')
    const disk = smallDisks && memberPorts.length === 0 ? SmallDisk.mount(dataDir, DISK_MEGABYTES) : undefined
    const scheme = certificates === undefined ? 'http' : 'https'
    const storage =
      storageLinks.length > 0
        ? [`--etcd-servers=${storageLinks.map((link) => `${scheme}://127.0.0.1:${link.port}`).join(',')}`]
        : [`--data-dir=${path.join(dataDir, 'store')}`]
    const args = [
      'bundle/main/index.js',
      `--secure-port=${port}`,
      `--cert-dir=${path.join(own, 'certs')}`,
      '--authorization-mode=AlwaysAllow',
      // What it publishes follows the certificate of whichever server leads, and would stand among the objects of the load.
      '--controllers=*,-root-ca-certificate-publisher-controller',
      ...(certificates === undefined ? ['--insecure-http'] : await tlsFlags(certificates, options)),
      ...storage,
    ]
    const logFile = path.join(folder, `${name}.log`)
    const clock = path.join(own, 'clock')
    writeFileSync(clock, '0')
    const env = { NODE_OPTIONS: `--require ${WRONG_CLOCK}`, FAULTS_CLOCK: clock }
    const started = new ManagedProcess({ command: process.execPath, args, logFile, env })
    const credentials = certificates && { ca: certificates.authority, token: TOKEN }
    const link = await Link.open(port)
    return new ApiServer({ name, port, link, storageLinks, process: started, clock, disk, credentials })
  }

  /** Where clients reach it: over its line. */
  get url(): string {
    return `${this.credentials === undefined ? 'http' : 'https'}://127.0.0.1:${this.link.port}`
  }

  /** What it shows to etcd. */
  get clientName(): string {
    return clientNameOf(this.name)
  }

  /** One that runs goes on when its disk is full; one that is started then may say so and end. */
  start(): void {
    if (this.process.isRunning) return
    this.process.start()
    if (this.disk?.isFull === true) this.process.mayEnd = true
  }

  /** Its clock jumps by so many seconds from what is right; 0 sets it right. */
  setClock(seconds: number): void {
    writeFileSync(this.#clock, String(seconds * 1000))
  }

  /** The status of an answer, straight from it and not over its line; undefined when there is none. */
  ask(target: string, patienceMs = 5000): Promise<number | undefined> {
    const { credentials } = this
    const url = `127.0.0.1:${this.#port}${target}`
    const headers = credentials && { authorization: `Bearer ${credentials.token}` }
    return new Promise((resolve) => {
      const took = (response: http.IncomingMessage): void => {
        response.resume()
        response.on('close', () => resolve(response.complete ? response.statusCode : undefined))
      }
      const request =
        credentials === undefined
          ? http.get(`http://${url}`, { agent: false }, took)
          : https.get(`https://${url}`, { agent: false, ca: credentials.ca, headers: headers! }, took)
      const timer = setTimeout(() => request.destroy(), patienceMs)
      request.on('error', () => resolve(undefined))
      request.on('close', () => {
        clearTimeout(timer)
        resolve(undefined)
      })
    })
  }

  ready(): Promise<void> {
    const isReady = async (): Promise<boolean> => {
      if (this.process.unexpected !== undefined) throw new Error(`${this.name}: ${this.process.unexpected}`)
      return (await this.ask('/readyz')) === 200
    }
    return until(isReady, { what: `${this.name} to be ready`, deadlineMs: READY_WITHIN_MS, everyMs: 100 })
  }

  async stop(): Promise<void> {
    await this.process.kill()
    for (const link of [this.link, ...this.storageLinks]) await link.close()
    this.disk?.unmount()
  }
}

const clientNameOf = (server: string): string => `${server}-client`

/** Clients say who they are by a token: where everybody may do everything, nobody may come without a name. */
async function tlsFlags(certificates: Certificates, { name, folder, memberPorts }: ServerOptions): Promise<string[]> {
  const tokens = path.join(folder, name, 'tokens.csv')
  writeFileSync(tokens, `${TOKEN},load,1,system:masters\n`)
  const serving = await certificates.issue(name)
  const flags = [
    `--tls-cert-file=${serving.certFile}`,
    `--tls-private-key-file=${serving.keyFile}`,
    `--token-auth-file=${tokens}`,
  ]
  if (memberPorts.length === 0) return flags
  const { certFile, keyFile } = await certificates.issue(clientNameOf(name))
  return [
    ...flags,
    `--etcd-cafile=${certificates.authorityFile}`,
    `--etcd-certfile=${certFile}`,
    `--etcd-keyfile=${keyFile}`,
  ]
}

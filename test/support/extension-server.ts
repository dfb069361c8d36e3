/**
 * An extension API server in a process of its own: TLS with a certificate for its service, discovery in both forms, OpenAPI v3, a collection
 * with a watch, a WebSocket, and what it was told of who asks. It is started by ExtensionServer.start().
 */
import { type ChildProcess, fork } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { issuerOf, makeCertificate } from '#keelson/main/certificates/certificate.js'

export const GROUP = 'weather.example.com'
export const VERSION = 'v1beta1'

const life = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3600_000 }

export interface ExtensionOptions {
  /** The names in its certificate. */
  readonly hosts: readonly string[]
  /** The authority of front proxies: requests without a certificate of it are 401. */
  readonly frontProxyCa: string
  /** Discovery in the old form only. */
  readonly legacy?: boolean
  readonly port?: number
}

export class ExtensionServer {
  readonly port: number
  /** The authority of its certificate (PEM). */
  readonly authority: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number, authority: string) {
    this.#child = child
    this.port = port
    this.authority = authority
  }

  static async start(options: ExtensionOptions, by = newAuthority()): Promise<ExtensionServer> {
    const issuer = issuerOf('extensions', by.key, new X509Certificate(by.certificate).publicKey)
    const { certificate, key } = makeCertificate(
      { commonName: 'extension', use: 'server', hosts: options.hosts, ...life },
      issuer,
    )
    const child = fork(fileURLToPath(new URL('extension-server-process.js', import.meta.url)), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const listening = new Promise<number>((resolve, reject) => {
      child.once('message', (port) => resolve(port as number))
      child.once('exit', (code) => reject(new Error(`the extension server ended with ${code}`)))
    })
    child.send({ ...options, certificate, key, group: GROUP, version: VERSION })
    return new ExtensionServer(child, await listening, by.certificate)
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await ended
  }
}

export const newAuthority = (): { certificate: string; key: string } =>
  makeCertificate({ commonName: 'extensions', use: 'authority', ...life })

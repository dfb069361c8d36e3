import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import path from 'node:path'
import { issuerOf, makeCertificate } from '#keelson/main/certificates/certificate.js'
import { KeelsonProcess } from '../support/keelson-process.js'

export const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const GROUP = 'rbac.authorization.k8s.io'

export interface Answer {
  readonly status: number
  readonly body: string
}

/** How somebody shows who they are. */
export interface Identity {
  readonly cert?: string
  readonly key?: string
  readonly headers?: Record<string, string>
}

/** A server with TLS, people who know it by certificates and tokens, and requests by them. */
export class AccessServer {
  readonly process: KeelsonProcess
  readonly #agents = new Map<Identity, Agent>()
  readonly admin: Identity

  private constructor(process: KeelsonProcess) {
    this.process = process
    this.admin = { cert: this.file('admin.crt'), key: this.file('admin.key') }
  }

  /** `tokens`: lines of a token file. */
  static async start(folder: string, tokens: readonly string[], flags: readonly string[] = []): Promise<AccessServer> {
    const file = path.join(folder, 'tokens.csv')
    writeFileSync(file, tokens.join('\n'))
    const more = ['--token-auth-file', file, '--disable-admission-plugins=ServiceAccount', ...flags]
    return new AccessServer(await KeelsonProcess.start(more, undefined, { tls: true }))
  }

  file(name: string): string {
    return readFileSync(path.join(this.process.certDir, name), 'utf8')
  }

  certificate(commonName: string, organizations: string[]): Identity {
    const authority = this.file('ca.crt')
    const issuer = issuerOf('keelson-ca', this.file('ca.key'), new X509Certificate(authority).publicKey)
    const life = { notBeforeMs: Date.now() - 1000, notAfterMs: Date.now() + 3_600_000 }
    const made = makeCertificate({ commonName, organizations, use: 'client', ...life }, issuer)
    return { cert: made.certificate, key: made.key }
  }

  ask(
    identity: Identity,
    method: string,
    pathAndQuery: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    let agent = this.#agents.get(identity)
    if (agent === undefined) {
      agent = new Agent({ keepAlive: true, maxSockets: 4, ca: this.file('ca.crt') })
      this.#agents.set(identity, agent)
    }
    const { cert, key } = identity
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const call = request(
        {
          host: '127.0.0.1',
          port: Number(new URL(this.process.url).port),
          method,
          path: pathAndQuery,
          agent,
          headers: {
            ...(text === undefined ? {} : { 'content-type': 'application/json' }),
            ...identity.headers,
            ...headers,
          },
          ...(cert === undefined ? {} : { cert, key }),
        },
        (response) => {
          let said = ''
          const isWatch = /[?&]watch=/.test(pathAndQuery)
          // A watch that has begun goes on for long: its head, and what it began with, are enough. It may begin with nothing.
          const begun = (): void => {
            resolve({ status: response.statusCode ?? 0, body: said })
            call.destroy()
          }
          if (isWatch && response.statusCode === 200) setTimeout(begun, 300)
          response.on('data', (chunk: Buffer) => {
            said += chunk.toString()
            if (isWatch) begun()
          })
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body: said }))
          response.on('error', () => resolve({ status: response.statusCode ?? 0, body: said }))
        },
      )
      call.on('error', reject)
      call.end(text)
    })
  }

  /** As the admin; throws when it fails. */
  async make(url: string, body: unknown): Promise<void> {
    const { status, body: said } = await this.ask(this.admin, 'POST', url, body)
    if (status !== 201) throw new Error(`POST ${url}: ${status} ${said}`)
  }

  async role(namespace: string, name: string, rules: readonly object[]): Promise<void> {
    const scope = namespace === '' ? 'clusterroles' : `namespaces/${namespace}/roles`
    await this.make(`${RBAC}/${scope}`, { metadata: { name }, rules })
  }

  /** `who`: user:x, group:y or account:namespace/z. */
  async bind(namespace: string, name: string, role: string, who: readonly string[]): Promise<void> {
    const [kind = '', roleName = ''] = role.split('/')
    const subjects = who.map((one) => {
      const [type = '', subject = ''] = [one.slice(0, one.indexOf(':')), one.slice(one.indexOf(':') + 1)]
      if (type !== 'account') return { apiGroup: GROUP, kind: type === 'user' ? 'User' : 'Group', name: subject }
      const [home, account] = subject.split('/')
      return { kind: 'ServiceAccount', name: account, namespace: home }
    })
    const scope = namespace === '' ? 'clusterrolebindings' : `namespaces/${namespace}/rolebindings`
    await this.make(`${RBAC}/${scope}`, {
      metadata: { name },
      subjects,
      roleRef: { apiGroup: GROUP, kind, name: roleName },
    })
  }

  async close(): Promise<void> {
    for (const agent of this.#agents.values()) agent.destroy()
    await this.process.close()
  }
}

/** Requests to a server with TLS, as its admin or as nobody. */
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import path from 'node:path'
import type { KeelsonProcess } from './keelson-process.js'

export interface AdminAnswer {
  readonly status: number
  readonly text: string
  readonly json: unknown
}

export class AdminClient {
  readonly tls: { readonly ca: string; readonly cert?: string; readonly key?: string }
  readonly #url: string
  readonly #agent: https.Agent

  constructor({ url, certDir }: Pick<KeelsonProcess, 'url' | 'certDir'>, as: 'admin' | 'anonymous' = 'admin') {
    const file = (name: string): string => readFileSync(path.join(certDir, name), 'utf8')
    const ca = file('ca.crt')
    this.tls = as === 'admin' ? { ca, cert: file('admin.crt'), key: file('admin.key') } : { ca }
    this.#url = url
    this.#agent = new https.Agent({ keepAlive: true, ...this.tls })
  }

  /** The answer before its body. */
  stream(pathAndQuery: string, options: https.RequestOptions = {}, body?: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = https.request(`${this.#url}${pathAndQuery}`, { agent: this.#agent, ...options }, resolve)
      request.once('error', reject)
      request.end(body)
    })
  }

  async request(
    method: string,
    pathAndQuery: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<AdminAnswer> {
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const answer = await this.stream(pathAndQuery, { method, headers: { ...type, ...headers } }, sent)
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    return {
      status: answer.statusCode ?? 0,
      text,
      get json(): unknown {
        return JSON.parse(text)
      },
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}

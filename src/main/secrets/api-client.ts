/** Thread: main. A client of the API for the commands of this program: what kubectl would use, and no more. */
import { request as requestHttp } from 'node:http'
import { Agent, request as requestHttps } from 'node:https'
import { parseJson } from '../../api/json/parse.js'
import { tlsOptions } from '../../auth/kubeconfig.js'
import type { Kubeconfig } from '../../protocol/kubeconfig.js'

export interface ApiAnswer {
  readonly status: number
  readonly text: string
}

export class ApiClient {
  readonly #kubeconfig: Kubeconfig
  readonly #agent: Agent | undefined

  constructor(kubeconfig: Kubeconfig) {
    this.#kubeconfig = kubeconfig
    const isSecure = kubeconfig.server.startsWith('https:')
    this.#agent = isSecure ? new Agent({ keepAlive: true, ...tlsOptions(kubeconfig) }) : undefined
  }

  /** Rejects when there is no answer. */
  send(method: string, path: string, body?: string): Promise<ApiAnswer> {
    const { server, token, basic } = this.#kubeconfig
    const secret = token === undefined ? undefined : `Bearer ${token}`
    const authorization =
      secret ?? (basic && `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`)
    const options = {
      method,
      ...(this.#agent === undefined ? {} : { agent: this.#agent }),
      headers: {
        accept: 'application/json',
        'user-agent': 'keelson',
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
      },
    }
    return new Promise((resolve, reject) => {
      const request = (this.#agent === undefined ? requestHttp : requestHttps)(new URL(path, server), options)
      request.on('error', reject)
      request.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        )
      })
      request.end(body)
    })
  }

  async get<T>(path: string): Promise<T> {
    const { status, text } = await this.send('GET', path)
    if (status !== 200) throw new ApiFailure(`GET ${path}: ${status} ${messageOf(text)}`, status)
    // JSON.parse would lose digits of large numbers, and what is read is written back.
    return parseJson(Buffer.from(text)).value as T
  }

  close(): void {
    this.#agent?.destroy()
  }
}

/** The server refused the request. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

export function messageOf(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message ?? text)
  } catch {
    return text.slice(0, 200)
  }
}

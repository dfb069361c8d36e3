import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import path from 'node:path'
import type { KeelsonProcess } from '../../support/keelson-process.js'

/** Longer than any wait that the server itself allows a read. */
const ANSWER_MS = 30_000

export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

/** Requests over TLS by the administrator, as kubectl makes them. The server may be another one after a restart. */
export class HttpClient {
  readonly #server: () => KeelsonProcess
  readonly #agent: Agent

  constructor(server: () => KeelsonProcess) {
    this.#server = server
    const file = (name: string): string => readFileSync(path.join(server().certDir, name), 'utf8')
    this.#agent = new Agent({ keepAlive: true, ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') })
  }

  async ask(method: string, target: string, body?: unknown, headers?: Record<string, string>): Promise<HttpAnswer> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const response = await this.#send(method, target, text, headers)
    return { status: response.statusCode ?? 0, text: await textOf(response) }
  }

  /** The answer as it begins; who asked reads or destroys it. */
  open(target: string): Promise<IncomingMessage> {
    return this.#send('GET', target, undefined)
  }

  close(): void {
    this.#agent.destroy()
  }

  #send(method: string, target: string, text: string | undefined, headers = {}): Promise<IncomingMessage> {
    const port = Number(new URL(this.#server().url).port)
    // Node sends the body of a DELETE without its length unless told.
    const content =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    return new Promise((resolve, reject) => {
      const call = request(
        { host: '127.0.0.1', port, method, path: target, agent: this.#agent, headers: { ...content, ...headers } },
        (response) => {
          clearTimeout(deadline)
          resolve(response)
        },
      )
      const deadline = setTimeout(
        () => call.destroy(new Error(`no answer to ${method} ${target} within ${ANSWER_MS} ms`)),
        ANSWER_MS,
      )
      call.on('error', (error) => {
        clearTimeout(deadline)
        reject(error)
      })
      call.end(text)
    })
  }
}

export async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return text
}

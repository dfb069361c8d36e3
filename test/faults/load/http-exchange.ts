/** One request over a connection that anything may happen to. */
import http from 'node:http'
import https from 'node:https'

export interface Answer {
  readonly status: number
  readonly body: unknown
}

export interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly type?: string
}

/** Longer than every fault of the short runs; past it a client gives up and does not know what became of its request. */
const PATIENCE_MS = 10_000

/** Instead of a status. */
export const NOT_SENT = 0

/** Of a server with TLS: whom the client trusts (PEM), and who it is. */
export interface ServerTrust {
  readonly ca: string
  readonly token: string
}

/** Nobody listened, or it was not who it should have been: nothing was sent, so nothing was done. */
const UNSENT: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'])

export class ServerAddress {
  readonly name: string
  readonly url: string
  readonly #trust: ServerTrust | undefined
  readonly #agent: http.Agent

  constructor(name: string, url: string, trust?: ServerTrust) {
    this.name = name
    this.url = url
    this.#trust = trust
    const kept = { keepAlive: true, maxSockets: 64 }
    this.#agent = trust === undefined ? new http.Agent(kept) : new https.Agent({ ...kept, ca: trust.ca })
  }

  /** Undefined when no whole answer came. */
  exchange(
    { method, path, body, type = 'application/json' }: Sent,
    patienceMs = PATIENCE_MS,
  ): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      const text = body === undefined ? undefined : JSON.stringify(body)
      // Node frames the body of a DELETE only when it is told the length.
      const headers = text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) }
      const request = this.#request(path, { method, agent: this.#agent, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', () => resolve(undefined))
        response.on('end', () => resolve(response.complete ? answer(response.statusCode ?? 0, chunks) : undefined))
      })
      request.on('error', (error: NodeJS.ErrnoException) =>
        resolve(UNSENT.has(error.code) ? { status: NOT_SENT, body: {} } : undefined),
      )
      const timer = setTimeout(() => request.destroy(), patienceMs)
      request.on('close', () => {
        clearTimeout(timer)
        resolve(undefined)
      })
      request.end(text)
    })
  }

  /** The lines of an answer that does not end by itself; `done` is called once, with the status when there was one. */
  lines(path: string, line: (text: string) => void, done: (status: number | undefined) => void): () => void {
    let status: number | undefined
    const request = this.#request(path, { method: 'GET', agent: false }, (response) => {
      status = response.statusCode
      let begun = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        const parts = (begun + chunk).split('\n')
        begun = parts.pop()!
        if (status === 200) for (const part of parts) if (part !== '') line(part)
      })
      response.on('error', () => undefined)
    })
    request.on('error', () => undefined)
    request.on('close', () => done(status))
    request.end()
    return () => request.destroy()
  }

  close(): void {
    this.#agent.destroy()
  }

  #request(
    path: string,
    {
      headers = {},
      ...options
    }: Pick<http.RequestOptions, 'method' | 'agent'> & { headers?: http.OutgoingHttpHeaders },
    took: (response: http.IncomingMessage) => void,
  ): http.ClientRequest {
    const url = `${this.url}${path}`
    if (this.#trust === undefined) return http.request(url, { ...options, headers }, took)
    const { ca, token } = this.#trust
    return https.request(url, { ...options, ca, headers: { ...headers, authorization: `Bearer ${token}` } }, took)
  }
}

function answer(status: number, chunks: readonly Buffer[]): Answer | undefined {
  try {
    return { status, body: JSON.parse(Buffer.concat(chunks).toString()) as unknown }
  } catch (error) {
    // An answer that is not whole is as good as none; everything else that this server says is JSON.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** One request over a connection that anything may happen to. */
import http from 'node:http'

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

export class ServerAddress {
  readonly name: string
  readonly url: string
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 64 })

  constructor(name: string, url: string) {
    this.name = name
    this.url = url
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
      const request = http.request(`${this.url}${path}`, { method, agent: this.#agent, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', () => resolve(undefined))
        response.on('end', () => resolve(response.complete ? answer(response.statusCode ?? 0, chunks) : undefined))
      })
      // Nobody listened: nothing was sent, so nothing was done.
      request.on('error', (error: NodeJS.ErrnoException) =>
        resolve(error.code === 'ECONNREFUSED' ? { status: NOT_SENT, body: {} } : undefined),
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
    const request = http.get(`${this.url}${path}`, { agent: false }, (response) => {
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
    return () => request.destroy()
  }

  close(): void {
    this.#agent.destroy()
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

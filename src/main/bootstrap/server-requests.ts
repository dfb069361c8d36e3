/** Thread: main. Requests that the server makes itself, through the pool like anybody's. */
import { API_SERVER_USER } from '../../api/user-info.js'
import type { Clock } from '../../lib/clock.js'
import { resolveRequestInfo } from '../request/request-info-resolver.js'
import type { PoolRunner } from '../threads/pool.js'

/** The user agent, which names the manager of the fields that the server writes, as with kube-apiserver. */
const USER_AGENT = 'kube-apiserver/keelson'
const TIMEOUT_MS = 60_000

export interface ServerAnswer {
  readonly status: number
  /** The JSON of the answer. */
  readonly text: string
}

export interface ServerRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** The query: `fieldManager=…`; '' for none. */
  readonly query?: string
  readonly contentType?: string
  readonly object?: object
}

export class ServerRequests {
  readonly #pool: PoolRunner
  readonly #clock: Clock
  #count = 0

  constructor(pool: PoolRunner, clock: Clock) {
    this.#pool = pool
    this.#clock = clock
  }

  async send(request: ServerRequest): Promise<ServerAnswer> {
    const { method, path, query = '', contentType = 'application/json', object } = request
    const { status, body } = await this.#pool.run(method === 'GET' ? 'read' : 'write', {
      info: resolveRequestInfo(method, path, new URLSearchParams(query)),
      method,
      query,
      user: API_SERVER_USER,
      accept: 'application/json',
      contentType,
      userAgent: USER_AGENT,
      body: new TextEncoder().encode(object === undefined ? '' : JSON.stringify(object)),
      auditId: `server-${++this.#count}`,
      deadlineMs: this.#clock.now() + TIMEOUT_MS,
    })
    return { status, text: Buffer.from(body).toString() }
  }
}

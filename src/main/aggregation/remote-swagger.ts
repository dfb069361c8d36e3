/**
 * Thread: main, or a front end's own. The documents of OpenAPI version 2 of extension servers, asked for when somebody asks this server for
 * its own, and kept. A server that has not changed its document says so by its ETag; one that does not answer keeps what it last said.
 *
 *   unknown ──asked, waited for──▶ known ──older than a minute: asked again, not waited for──▶ known
 *      └─fails─▶ empty, asked again after a minute
 */
import { createHash } from 'node:crypto'
import { type RemoteService, serviceKey } from '../../aggregator/api-service.js'
import type { APIServiceIndex } from '../../aggregator/api-service-index.js'
import type { Clock } from '../../lib/clock.js'
import type { SwaggerSource } from '../../protocol/main-pool.js'
import type { RemoteConnections } from './remote-connections.js'
import { remoteDocument } from './remote-documents.js'

const FRESH_MS = 60_000
/** All documents together; those of servers beyond it are left out. */
const MAX_BYTES = 64 * 1024 * 1024

interface Known {
  etag: string
  body: Buffer
  askedMs: number
  asking: Promise<void> | undefined
}

export class RemoteSwagger {
  readonly #index: APIServiceIndex
  readonly #connections: RemoteConnections
  readonly #clock: Clock
  readonly #known = new Map<string, Known>()

  constructor(index: APIServiceIndex, connections: RemoteConnections, clock: Clock) {
    this.#index = index
    this.#connections = connections
    this.#clock = clock
  }

  /** The documents as far as they are known; waits for those that were never asked for. */
  async sources(): Promise<SwaggerSource[]> {
    const servers = this.#servers()
    for (const key of this.#known.keys()) if (!servers.has(key)) this.#known.delete(key)
    const first = [...servers].flatMap(([key, [remote]]) => this.#refresh(key, remote!) ?? [])
    await Promise.all(first)
    const sources: SwaggerSource[] = []
    let size = 0
    for (const [key, remotes] of servers) {
      const known = this.#known.get(key)
      if (known === undefined || known.etag === '' || size + known.body.byteLength > MAX_BYTES) continue
      size += known.body.byteLength
      const prefixes = remotes.map(({ group, version }) => `/apis/${group}/${version}/`).sort()
      sources.push({ etag: known.etag, prefixes, body: known.body })
    }
    return sources
  }

  /** The APIServices of each server. */
  #servers(): Map<string, RemoteService[]> {
    const servers = new Map<string, RemoteService[]>()
    for (const remote of this.#index.all) {
      const key = serviceKey(remote.service)
      const others = servers.get(key)
      if (others === undefined) servers.set(key, [remote])
      else others.push(remote)
    }
    return new Map([...servers].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Gives what has to be waited for. */
  #refresh(key: string, remote: RemoteService): Promise<void> | undefined {
    const now = this.#clock.monotonicMs()
    const known = this.#known.get(key)
    if (known !== undefined && (known.asking !== undefined || now - known.askedMs < FRESH_MS))
      return known.etag === '' ? known.asking : undefined
    const next: Known = known ?? { etag: '', body: Buffer.alloc(0), askedMs: now, asking: undefined }
    this.#known.set(key, next)
    next.askedMs = now
    // Whatever the server says, it ends here: a document that did not come leaves the last one in its place.
    next.asking = this.#ask(next, remote)
      .catch(() => undefined)
      .finally(() => {
        next.asking = undefined
      })
    return next.etag === '' ? next.asking : undefined
  }

  async #ask(known: Known, remote: RemoteService): Promise<void> {
    if (!remote.available) {
      // It is asked as soon as it is there.
      known.askedMs = Number.NEGATIVE_INFINITY
      return
    }
    const headers: Record<string, string> = known.etag === '' ? {} : { 'if-none-match': known.etag }
    const { status, etag, body } = await remoteDocument(this.#connections, remote, '/openapi/v2', headers)
    if (status !== 200) return
    known.body = body
    known.etag = etag === '' ? createHash('sha256').update(body).digest('base64') : etag
  }
}

/** A server in this process, right in everything the load asks for unless a bug is planted; some answers are cut off either way. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Random } from '../../support/fuzz.js'
import type { LoadObject } from '../load/recorder.js'
import { LIMITED_MOST, LIMITED_NAMESPACE, prefixOf, SECRETS } from '../load/resources.js'
import { FakeStore, isRefusal, type LogEntry } from './fake-store.js'
import { FakeWatch } from './fake-watch.js'
import { type Bug, Planted } from './planted.js'

interface Asked {
  readonly method: string
  readonly prefix: string
  readonly key: string
  readonly isItem: boolean
  readonly query: URLSearchParams
  readonly type: string
  readonly body: LoadObject & { preconditions?: { resourceVersion?: string } }
}

/** Of requests, in percent: the connection ends before anything is done, or after. */
const CUT = 2

export class FakeServer {
  readonly #planted: Planted
  readonly #store: FakeStore
  readonly #random = new Random(5)
  readonly #server = http.createServer((request, response) => void this.#serve(request, response))

  constructor(bug?: Bug) {
    this.#planted = new Planted(bug)
    this.#store = new FakeStore(this.#planted, { prefix: prefixOf(SECRETS, LIMITED_NAMESPACE), most: LIMITED_MOST })
  }

  /** Gives the address. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await parse(request)
    if (asked.query.has('watch')) {
      this.#watch(asked, response)
      return
    }
    await this.#tarry()
    if (this.#random.chance(CUT)) return void request.socket.destroy()
    const { status, body } = this.#answer(asked)
    await this.#tarry()
    if (this.#random.chance(CUT)) return void request.socket.destroy()
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }

  /** So that requests overlap. */
  #tarry(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#random.below(5)))
  }

  #watch({ prefix, query }: Asked, response: ServerResponse): void {
    const from = query.get('resourceVersion')
    const options = { prefix, from: from === null ? undefined : Number(from), initial: query.has('sendInitialEvents') }
    new FakeWatch(response, this.#store, this.#planted, options).start()
  }

  #answer(asked: Asked): { status: number; body: object } {
    const { method, isItem } = asked
    if (method === 'GET') return isItem ? this.#get(asked) : this.#list(asked)
    const done = this.#write(asked)
    if (isRefusal(done)) return { status: done.code, body: { kind: 'Status', reason: done.reason } }
    return { status: method === 'POST' ? 201 : 200, body: done }
  }

  #write({ method, key, type, body }: Asked) {
    if (method === 'POST') return this.#store.create(key, body)
    if (method === 'PUT') return this.#store.replace(key, body)
    if (method === 'DELETE') return this.#store.delete(key, body.preconditions?.resourceVersion)
    const stored = this.#store.get(key)
    if (stored === undefined)
      return type.includes('apply') ? this.#store.create(key, body) : { code: 404, reason: 'NotFound' }
    const { annotations, finalizers } = body.metadata
    const metadata = {
      ...stored.metadata,
      annotations: { ...stored.metadata.annotations, ...annotations },
      ...(finalizers === null && { finalizers: [] }),
    }
    return this.#store.replace(key, { ...stored, metadata })
  }

  #get({ key }: Asked): { status: number; body: object } {
    const past = this.#store.log.filter((entry) => entry.key === key)
    const object = this.#store.get(key)
    const before = past.at(-2)
    if (before !== undefined && before.type !== 'DELETED' && this.#planted.strikes('stale read'))
      return { status: 200, body: before.object }
    if (object === undefined) {
      const isBack = before !== undefined && before.type !== 'DELETED' && this.#planted.strikes('deleted comes back')
      return isBack
        ? { status: 200, body: before.object }
        : { status: 404, body: { kind: 'Status', reason: 'NotFound' } }
    }
    if (!this.#planted.strikes('servers disagree')) return { status: 200, body: object }
    const metadata = { ...object.metadata, resourceVersion: String(Number(object.metadata.resourceVersion) - 1) }
    return { status: 200, body: { ...object, metadata } }
  }

  #list({ prefix, query }: Asked): { status: number; body: object } {
    const token = query.get('continue')
    const [tokenRevision, after] = token === null ? [undefined, ''] : (token.split(' ') as [string, string])
    const asked = Number(query.get('resourceVersion') ?? '0')
    const isExact = query.get('resourceVersionMatch') === 'Exact'
    let revision = Number(tokenRevision ?? (isExact ? asked : this.#store.revision))
    if (token === null && asked === 0 && this.#planted.strikes('stale list')) revision = Math.max(100, revision - 15)
    if (!isExact && asked > 0 && this.#planted.strikes('old list')) revision = asked - 1
    let shown = revision
    if (token !== null && this.#planted.strikes('page of another revision')) shown = this.#store.revision
    const rest = this.#store.at(prefix, shown).filter(({ key }) => key > after)
    const page = this.#page(rest, Number(query.get('limit') ?? rest.length))
    const last = page.length < rest.length ? rest[page.length - 1] : undefined
    const metadata = { resourceVersion: String(revision), ...(last && { continue: `${revision} ${last.key}` }) }
    return { status: 200, body: { metadata, items: page.map(({ object }) => object) } }
  }

  #page(rest: readonly LogEntry[], limit: number): LogEntry[] {
    const page = rest.slice(0, limit)
    if (page.length > 1 && this.#planted.strikes('reordered page')) page.reverse()
    if (page.length > 1 && page.length === rest.length && this.#planted.strikes('list with a gap')) page.splice(1, 1)
    return page
  }
}

/** `/api/v1/namespaces/work/configmaps/x` is the key `configmaps/work/x`. */
async function parse(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const url = new URL(request.url ?? '/', 'http://fake')
  const [, namespace, resource, name] = /\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(url.pathname) ?? []
  const body = (text === '' ? { metadata: {} } : JSON.parse(text)) as Asked['body']
  const prefix = resource === undefined ? `${url.pathname}/` : `${resource}/${namespace}/`
  return {
    method: request.method ?? 'GET',
    prefix,
    key: `${prefix}${name ?? body.metadata?.name ?? ''}`,
    isItem: name !== undefined,
    query: url.searchParams,
    type: request.headers['content-type'] ?? '',
    body,
  }
}

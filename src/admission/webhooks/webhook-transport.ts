/**
 * Thread: pool. How webhooks are reached: HTTP/1.1 over TLS and kept connections, one set of them for each address, authority and
 * user. Nothing is followed (no redirects), answers have a limit, and a call ends when its time is over, whatever the
 * webhook does with its bytes.
 */
import { Agent, buildConnector, request } from 'undici'
import type { WebhookClientConfig } from '../../api/generated/kinds/admissionregistration.v1.js'
import type { CancelSignal } from '../../lib/cancellation.js'
import type { Clock } from '../../lib/clock.js'
import { type Dial, dialThrough } from '../../lib/egress/connect-tunnel.js'
import type { EgressConfig } from '../../lib/egress/egress-config.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { WebhookUsers } from '../../protocol/webhook-users.js'
import type { ServiceResolver } from './service-resolver.js'
import { credentialsFor } from './webhook-credentials.js'

/** The largest answer, as a request's body has a limit too: a patch may replace a whole object. */
export const MAX_ANSWER_BYTES = 3 * 1024 * 1024
/** What is held of answers that are not whole yet, by all calls of one transport; a call whose bytes do not fit fails. */
const MAX_HELD_BYTES = 32 * 1024 * 1024
/** Go's client takes as many answers that are none yet (1xx); whoever says "not yet" for ever would keep the thread busy. */
const MOST_INFORMATIONAL = 5
/** Connections to one webhook from one thread; more calls wait for one of them, within their own time. */
const MAX_CONNECTIONS = 64
/** The most sets of connections that are kept; configurations come and go. */
const MAX_AGENTS = 256

export class TransportError extends Error {
  override readonly name = 'TransportError'
  readonly code = 'transport'
  /** The status that the webhook answered with; undefined when it did not answer. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

export interface WebhookCall {
  readonly clientConfig: WebhookClientConfig
  readonly body: string
  readonly timeoutMs: number
  /** The longest answer that is read; MAX_ANSWER_BYTES unless told. */
  readonly maxAnswerBytes?: number
  readonly signal: CancelSignal | undefined
}

export type TracedCall = (
  url: string,
  call: (headers: Readonly<Record<string, string>>) => Promise<Buffer>,
) => Promise<Buffer>

export interface WebhookTransportOptions {
  readonly resolve: ServiceResolver
  readonly users: WebhookUsers
  /** Services are reached as the cluster is, URLs as the control plane is. */
  readonly egress: EgressConfig
  readonly clock: Clock
  /** Told when a call begins (1) and ends (-1) to wait. */
  readonly onCall: (change: 1 | -1) => void
  /** Does a call as a span of its request, and gives the headers that tell the webhook of it. Without it none is made. */
  readonly traced?: TracedCall | undefined
}

interface Target {
  readonly origin: string
  readonly path: string
  readonly agent: Agent
  readonly headers: Readonly<Record<string, string>>
}

export class WebhookTransport implements Closable {
  readonly #options: WebhookTransportOptions
  readonly #agents = new Map<string, Agent>()
  #heldBytes = 0

  constructor(options: WebhookTransportOptions) {
    this.#options = options
  }

  /** The body of the webhook's answer. Throws TransportError. */
  async post(call: WebhookCall): Promise<Buffer> {
    const target = this.#target(call.clientConfig)
    const { traced } = this.#options
    if (traced === undefined) return this.#post(call, target, {})
    return traced(`${target.origin}${target.path}`, (more) => this.#post(call, target, more))
  }

  async #post(call: WebhookCall, target: Target, more: Readonly<Record<string, string>>): Promise<Buffer> {
    const { body, timeoutMs, maxAnswerBytes = MAX_ANSWER_BYTES, signal } = call
    const { origin, path, agent } = target
    const headers = { ...target.headers, ...more }
    const url = `${origin}${path}?timeout=${Math.ceil(timeoutMs / 1000)}s`
    const ended = new AbortController()
    let why = 'context deadline exceeded'
    const timer = this.#options.clock.after(timeoutMs, () => ended.abort())
    const cancel = (): void => {
      why = 'context canceled'
      ended.abort()
    }
    signal?.addEventListener('abort', cancel, { once: true })
    this.#options.onCall(1)
    try {
      if (signal?.aborted) cancel()
      let informational = 0
      const onInfo = (): void => {
        if (++informational <= MOST_INFORMATIONAL) return
        why = 'the webhook sent too many 1xx answers'
        ended.abort()
      }
      const { signal: end } = ended
      const asked = request(url, { method: 'POST', body, headers, dispatcher: agent, signal: end, onInfo })
      const answer = await unlessAborted(asked, end)
      const bytes = await this.#read(answer.body, maxAnswerBytes)
      if (answer.statusCode < 200 || answer.statusCode > 299)
        throw new TransportError(`the webhook answered with status ${answer.statusCode}`, answer.statusCode)
      return bytes
    } catch (error) {
      if (error instanceof TransportError) throw error
      const told = ended.signal.aborted ? why : describe(error)
      throw new TransportError(`Post ${JSON.stringify(url)}: ${told}`)
    } finally {
      this.#options.onCall(-1)
      timer.cancel()
      signal?.removeEventListener('abort', cancel)
    }
  }

  async #read(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
    const chunks: Buffer[] = []
    let size = 0
    try {
      for await (const chunk of body) {
        size += chunk.byteLength
        this.#heldBytes += chunk.byteLength
        if (size > maxBytes) throw new TransportError('the webhook’s answer is too long')
        if (this.#heldBytes > MAX_HELD_BYTES) throw new TransportError('too many long answers at once')
        chunks.push(chunk)
      }
      return Buffer.concat(chunks)
    } finally {
      this.#heldBytes -= size
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()))
    this.#agents.clear()
  }

  #target({ url, service, caBundle }: WebhookClientConfig): Target {
    const { resolve } = this.#options
    if (service) {
      const { name = '', namespace = '', port = 443, path = '' } = service
      const serverName = `${name}.${namespace}.svc`
      const agent = this.#agent(`${serverName}:${port}`, caBundle, serverName, () => resolve({ name, namespace, port }))
      const slashed = path.startsWith('/') ? path : `/${path}`
      return {
        origin: `https://${serverName}:${port}`,
        path: slashed,
        agent,
        headers: this.#headers(`${serverName}:${port}`),
      }
    }
    let given: URL
    try {
      given = new URL(url ?? '')
    } catch {
      throw new TransportError('the webhook has neither a service nor a valid URL')
    }
    const target = `${given.hostname}:${given.port === '' ? '443' : given.port}`
    const agent = this.#agent(target, caBundle, undefined, undefined)
    return { origin: given.origin, path: given.pathname, agent, headers: this.#headers(target) }
  }

  #headers(target: string): Readonly<Record<string, string>> {
    const { token, basic } = credentialsFor(this.#options.users, target)
    const plain = {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'kube-apiserver-admission',
    }
    if (token !== undefined) return { ...plain, authorization: `Bearer ${token}` }
    return basic === undefined ? plain : { ...plain, authorization: `Basic ${basic}` }
  }

  #agent(
    target: string,
    caBundle: string | undefined | null,
    servername: string | undefined,
    resolve: (() => ReturnType<ServiceResolver>) | undefined,
  ): Agent {
    const key = `${target} ${servername === undefined ? 'url' : 'service'} ${caBundle ?? ''}`
    const known = this.#agents.get(key)
    if (known !== undefined) return known
    const { users, egress } = this.#options
    const { certificate, key: privateKey } = credentialsFor(users, target)
    const dial = dialThrough(resolve === undefined ? egress.controlplane : egress.cluster)
    const connector = buildConnector({
      allowH2: false,
      ...authoritiesOf(caBundle),
      ...(servername === undefined ? {} : { servername }),
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(privateKey === undefined ? {} : { key: privateKey }),
    })
    const connect: buildConnector.connector = (options, callback) => {
      if (resolve === undefined && dial === undefined) {
        connector(options, callback)
        return
      }
      const connected = async (): Promise<void> => {
        const { hostname, port } = options
        const { host, port: at } = (await resolve?.()) ?? { host: hostname, port: Number(port) || 443 }
        const told = { ...options, hostname: host, host: `${host}:${at}`, port: String(at) }
        connector(dial === undefined ? told : await tunnelled(told, dial), callback)
      }
      connected().catch((error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null))
    }
    const agent = new Agent({ connect, connections: MAX_CONNECTIONS, pipelining: 1 })
    this.#evict()
    this.#agents.set(key, agent)
    return agent
  }

  /** Makes room for one more; the oldest goes once what it has under way is done. */
  #evict(): void {
    if (this.#agents.size < MAX_AGENTS) return
    for (const [key, agent] of this.#agents) {
      this.#agents.delete(key)
      agent.close(() => undefined)
      return
    }
  }
}

/**
 * The promise, or a rejection as soon as the signal says so. undici ends a request by its signal only once there is a connection, and an
 * address from which nothing comes back takes longer to find out than a webhook may take.
 */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    promise.then(resolve, reject)
  })
}

/** The same, with a connection under the TLS that is to come. */
async function tunnelled(options: buildConnector.Options, dial: Dial): Promise<buildConnector.Options> {
  const host = options.hostname.replace(/^\[(.*)\]$/, '$1')
  return { ...options, httpSocket: await dial({ host, port: Number(options.port) }) }
}

/** A bundle that holds nothing but blanks is none: then the authorities of the system are believed. */
function authoritiesOf(caBundle: string | undefined | null): { readonly ca?: Buffer } {
  const ca = Buffer.from(caBundle ?? '', 'base64')
  return ca.toString('latin1').trim() === '' ? {} : { ca }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0].message : error.message
}

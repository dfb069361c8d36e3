/**
 * Thread: main. Whom the server before this one lets speak for others: the authorities of its front proxy and of its clients, which it
 * publishes in kube-system/extension-apiserver-authentication. They are read when this server starts and followed while it runs.
 *
 *   read() ──▶ start() ──▶ watching ──an event──▶ onChange
 *                             ▲  └─the stream ends, or fails─▶ pausing ──▶ read again, then watching
 *                             └──────────────────────────────────────────────┘
 */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type Json } from '../../api/object.js'
import { ClientAuthorities } from '../../auth/authn/client-authorities.js'
import { readKubeconfig, tlsOptions, tokenHeaders } from '../../auth/kubeconfig.js'
import type { Clock, Timer } from '../../lib/clock.js'
import { backoff } from '../../lib/jitter.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import type { Kubeconfig } from '../../protocol/kubeconfig.js'
import type { FrontProxyHeaders } from '../../protocol/server-credentials.js'
import type { ClusterTrustConfig } from '../flags/delegation-options.js'

const NAME = 'extension-apiserver-authentication'
const COLLECTION = '/api/v1/namespaces/kube-system/configmaps'
const TIMEOUT_MS = 10_000
/** The server ends a watch by itself after this; what neither tells nor ends is taken for dead a little later. */
const WATCH_SECONDS = 300
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 30_000
/** The largest answer and the longest event: a ConfigMap has at most 1 MiB of data. */
const MAX_BYTES = 4 * 1024 * 1024

export interface TrustedByCluster {
  /** PEM; '' when the cluster says nothing of its clients. */
  readonly clientCa: string
  readonly frontProxy: { readonly ca: string; readonly headers: FrontProxyHeaders } | undefined
}

export interface ClusterTrustOptions {
  readonly config: ClusterTrustConfig
  readonly clock: Clock
  readonly logger: Logger
}

export class ClusterTrust implements Closable {
  readonly #options: ClusterTrustOptions
  readonly #kubeconfig: Kubeconfig
  readonly #agent: HttpAgent | HttpsAgent
  #current: TrustedByCluster = { clientCa: '', frontProxy: undefined }
  #resourceVersion = ''
  #attempts = 0
  #request: ClientRequest | undefined
  #timer: Timer | undefined
  #isClosed = false
  #onChange: (trusted: TrustedByCluster) => void = () => undefined

  /** Throws KubeconfigError. */
  constructor(options: ClusterTrustOptions) {
    this.#options = options
    this.#kubeconfig = readKubeconfig(options.config.kubeconfigFile)
    this.#agent = this.#kubeconfig.server.startsWith('https:')
      ? new HttpsAgent({ keepAlive: true, ...tlsOptions(this.#kubeconfig) })
      : new HttpAgent({ keepAlive: true })
  }

  get current(): TrustedByCluster {
    return this.#current
  }

  /** Reads what the cluster says now. Rejects when it cannot be read, unless that is tolerated. */
  async read(): Promise<void> {
    const { config, logger } = this.#options
    try {
      await this.#get()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const what = `--authentication-kubeconfig: kube-system/${NAME} cannot be read from ${this.#kubeconfig.server}: ${why}`
      if (!config.tolerateFailure) throw new Error(what, { cause: error })
      logger.warn({}, `${what}; it is tried again`)
    }
  }

  /** Follows what the cluster says; the listener is called whenever that has changed. */
  start(onChange: (trusted: TrustedByCluster) => void): void {
    this.#onChange = onChange
    this.#follow()
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#request?.destroy()
    this.#agent.destroy()
  }

  #follow(): void {
    void this.#watch()
      .catch((error: unknown) => {
        this.#attempts++
        this.#options.logger.debug({ err: error }, `kube-system/${NAME} of the server before this one is not followed`)
      })
      .then(() => {
        if (this.#isClosed) return
        const pauseMs = backoff(this.#attempts, FIRST_PAUSE_MS, MAX_PAUSE_MS)
        this.#timer = this.#options.clock.after(pauseMs, () => this.#follow())
      })
  }

  async #get(): Promise<void> {
    const answer = await this.#send(`${COLLECTION}/${NAME}`, TIMEOUT_MS)
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.byteLength
      if (size > MAX_BYTES) throw new Error('the answer is too long')
      chunks.push(chunk)
    }
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`)
    this.#take(JSON.parse(Buffer.concat(chunks).toString()) as Json)
  }

  /** Resolves when the stream ends, which is nothing unusual. */
  async #watch(): Promise<void> {
    await this.#get()
    this.#attempts = 0
    const query = new URLSearchParams({
      watch: 'true',
      fieldSelector: `metadata.name=${NAME}`,
      resourceVersion: this.#resourceVersion,
      timeoutSeconds: String(WATCH_SECONDS),
    })
    const answer = await this.#send(`${COLLECTION}?${query}`, (WATCH_SECONDS + 30) * 1000)
    if (answer.statusCode !== 200) {
      answer.destroy()
      throw new Error(`status ${answer.statusCode}`)
    }
    let text = ''
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      text += chunk.toString('latin1')
      if (text.length > MAX_BYTES) throw new Error('the event is too long')
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        this.#event(JSON.parse(Buffer.from(text.slice(0, end), 'latin1').toString()) as Json)
        text = text.slice(end + 1)
      }
    }
  }

  #event(event: Json): void {
    if (!isJsonObject(event)) return
    if (event['type'] === 'ERROR') throw new Error('the watch has expired')
    // Who deletes it takes nothing back: as in Kubernetes, what was believed last stays in force.
    if (event['type'] === 'ADDED' || event['type'] === 'MODIFIED') this.#take(event['object'] ?? null)
  }

  #take(object: Json): void {
    if (!isJsonObject(object)) throw new Error('the ConfigMap is no object')
    const { config } = this.#options
    const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {}
    this.#resourceVersion = String(metadata['resourceVersion'] ?? '')
    const found = trustedByCluster(object['data'] ?? {})
    const next: TrustedByCluster = {
      clientCa: config.wantsClientCa ? found.clientCa : '',
      frontProxy: config.wantsFrontProxy ? found.frontProxy : undefined,
    }
    if (isDeepStrictEqual(next, this.#current)) return
    this.#current = next
    this.#onChange(next)
  }

  #send(path: string, timeoutMs: number): Promise<IncomingMessage> {
    const { server } = this.#kubeconfig
    const options = {
      agent: this.#agent,
      headers: { accept: 'application/json', ...tokenHeaders(this.#kubeconfig) },
      timeout: timeoutMs,
    }
    return new Promise((resolve, reject) => {
      const send = server.startsWith('https:') ? requestHttps : requestHttp
      const request = send(`${server}${path}`, options, resolve)
      this.#request = request
      request.on('timeout', () => request.destroy(new Error('no answer in time')))
      request.on('error', reject)
      request.end()
    })
  }
}

/** Reads the data of the ConfigMap. Throws for authorities that are none. */
export function trustedByCluster(data: Json): TrustedByCluster {
  const values = isJsonObject(data) ? data : {}
  const text = (name: string): string => (typeof values[name] === 'string' ? values[name] : '')
  const clientCa = text('client-ca-file')
  const ca = text('requestheader-client-ca-file')
  for (const pem of [clientCa, ca]) if (pem !== '') new ClientAuthorities(pem)
  const headers: FrontProxyHeaders = {
    allowedNames: list(text('requestheader-allowed-names')),
    username: list(text('requestheader-username-headers')),
    uid: list(text('requestheader-uid-headers')),
    group: list(text('requestheader-group-headers')),
    extraPrefixes: list(text('requestheader-extra-headers-prefix')),
  }
  return { clientCa, frontProxy: ca === '' || headers.username.length === 0 ? undefined : { ca, headers } }
}

function list(text: string): string[] {
  if (text === '') return []
  const value: unknown = JSON.parse(text)
  if (!Array.isArray(value)) throw new Error(`${text} is no list`)
  return value.filter((one) => typeof one === 'string')
}

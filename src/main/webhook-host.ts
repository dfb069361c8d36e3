/**
 * Thread: main. Webhooks of the process that runs a server by library.ts: handlers behind HTTPS on loopback, with a certificate of their
 * own, answering AdmissionReview and ConversionReview in whichever version they come. For tests of webhooks and operators; what
 * a cluster trusts is deployed otherwise.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeCertificate } from './certificates/certificate.js'

/** The request of a review: of an AdmissionReview, or, with `objects`, of a ConversionReview. */
export interface WebhookRequest {
  readonly uid: string
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string }
  readonly resource?: { readonly group: string; readonly version: string; readonly resource: string }
  readonly subResource?: string
  readonly name?: string
  readonly namespace?: string
  readonly operation?: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] }
  readonly object?: WebhookObject | null
  readonly oldObject?: WebhookObject | null
  readonly dryRun?: boolean
  /** Of a ConversionReview: the objects, and the version that they are wanted in. */
  readonly objects?: readonly WebhookObject[]
  readonly desiredAPIVersion?: string
}

export interface WebhookObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name?: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly [field: string]: unknown
  }
  readonly [field: string]: unknown
}

/** What a handler answers; uid, envelope and the encoding of a patch are put around it. */
export interface WebhookResponse {
  readonly allowed?: boolean
  /** Operations of a JSON patch. */
  readonly patch?: readonly { readonly op: string; readonly path: string; readonly [field: string]: unknown }[]
  readonly status?: { readonly code?: number; readonly message?: string; readonly reason?: string }
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: Readonly<Record<string, string>>
  /** The answer to a ConversionReview: the objects, in order. */
  readonly convertedObjects?: readonly WebhookObject[]
}

/** One that throws is a webhook that fails: admission goes by its failurePolicy, a conversion fails with the message. */
export type WebhookHandler = (request: WebhookRequest) => WebhookResponse | Promise<WebhookResponse>

export interface WebhookClientConfig {
  readonly url: string
  /** PEM in base64, as configurations and definitions have it. */
  readonly caBundle: string
}

interface Review {
  readonly kind?: string
  readonly apiVersion?: string
  readonly request?: WebhookRequest
}

const HOST = '127.0.0.1'
const YEAR_MS = 365 * 24 * 3600 * 1000
/** More than a server sends: objects in a review have 3 MiB at most, and a batch of them some more. */
const MAX_BODY_BYTES = 64 * 1024 * 1024

export class WebhookHost {
  readonly #server: Server
  readonly #caBundle: string
  readonly #handlers: ReadonlyMap<string, WebhookHandler>

  /** `handlers` by path, `/label`. */
  constructor(handlers: Readonly<Record<string, WebhookHandler>>) {
    this.#handlers = new Map(Object.entries(handlers))
    const nowMs = Date.now()
    const { certificate, key } = makeCertificate({
      commonName: 'keelson-webhooks',
      use: 'server',
      hosts: [HOST, 'localhost'],
      notBeforeMs: nowMs - 3600 * 1000,
      notAfterMs: nowMs + YEAR_MS,
    })
    this.#caBundle = Buffer.from(certificate).toString('base64')
    this.#server = createServer({ cert: certificate, key }, (request, response) => void this.#answer(request, response))
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(0, HOST, resolve)
    })
  }

  /** For the clientConfig of a webhook in a configuration, or of the conversion of a definition. Throws for a path without a handler. */
  clientConfig(path: string): WebhookClientConfig {
    if (!this.#handlers.has(path)) throw new Error(`there is no webhook at ${path}`)
    const { port } = this.#server.address() as AddressInfo
    return { url: `https://${HOST}:${port}${path}`, caBundle: this.#caBundle }
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
    })
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const respond = (status: number, body: object): void => {
      outgoing.writeHead(status, { 'content-type': 'application/json' })
      outgoing.end(JSON.stringify(body))
    }
    const handler = this.#handlers.get((incoming.url ?? '').split('?', 1)[0]!)
    if (handler === undefined) return respond(404, { message: 'there is no such webhook' })
    try {
      const review = JSON.parse(await bodyOf(incoming)) as Review
      respond(200, await answerTo(review, handler))
    } catch (error) {
      respond(500, { message: error instanceof Error ? error.message : String(error) })
    }
  }
}

async function answerTo({ kind, apiVersion, request }: Review, handler: WebhookHandler): Promise<object> {
  if (request === undefined) throw new TypeError('the review has no request')
  const { uid } = request
  if (kind !== 'ConversionReview') return { kind, apiVersion, response: { uid, ...admission(await handler(request)) } }
  try {
    const { convertedObjects = [] } = await handler(request)
    return { kind, apiVersion, response: { uid, result: { status: 'Success' }, convertedObjects } }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { kind, apiVersion, response: { uid, result: { status: 'Failure', message } } }
  }
}

function admission({ allowed = false, patch, convertedObjects: _, ...rest }: WebhookResponse): object {
  if (patch === undefined || patch.length === 0) return { allowed, ...rest }
  return { allowed, ...rest, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > MAX_BODY_BYTES) throw new RangeError('the review is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

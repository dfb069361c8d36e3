/** The webhook server of recorded suites: HTTPS on loopback, answering by webhook-script.ts, with a log of what it was asked. */
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCertificate } from '#keelson/main/certificates/certificate.js'
import type { Json } from './edits.js'
import { type HookReview, hookAnswer } from './webhook-script.js'

type Tree = Record<string, Json>

/** How much of a log a step keeps, and in which order. */
interface LogView {
  /** Calls that were made side by side have no order. */
  readonly sorted?: boolean
  /** A line a call. */
  readonly brief?: boolean
  /** The different objects that were to become this version: how often, and together with what, is a server's own affair. */
  readonly conversions?: string
}

interface Call {
  readonly call: string
  readonly contentType: string | null
  readonly body: HookReview
}

const WEEK_MS = 7 * 24 * 3600 * 1000

export class RecordedWebhooks {
  readonly #server: Server
  readonly #caBundle: string
  #calls: Call[] = []
  #replies: Tree = {}

  constructor() {
    const { certificate, key } = makeCertificate({
      commonName: 'recorded-webhooks',
      use: 'server',
      hosts: ['127.0.0.1'],
      notBeforeMs: Date.now() - WEEK_MS,
      notAfterMs: Date.now() + WEEK_MS,
    })
    this.#caBundle = Buffer.from(certificate).toString('base64')
    this.#server = createServer({ cert: certificate, key }, (request, response) => {
      const chunks: Buffer[] = []
      request.on('error', () => undefined)
      response.on('error', () => undefined)
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { method = '', url = '', headers } = request
        const call = { call: `${method} ${url}`, contentType: headers['content-type'] ?? null }
        void this.#answer({ ...call, body: reviewOf(Buffer.concat(chunks)) }, url).then((answer) => {
          if (answer === 'close') request.socket.destroy()
          else response.writeHead(answer.status, { 'content-type': answer.contentType }).end(answer.body)
        })
      })
    })
  }

  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve)
    })
  }

  /** What suites call them. */
  variables(): Record<string, string> {
    return { hookUrl: `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`, hookCA: this.#caBundle }
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  begin(replies: Json | undefined): void {
    this.#replies = (replies ?? {}) as Tree
    this.#calls = []
  }

  /** What came since the last time, as a step sees it. `steady` replaces what differs from run to run. */
  take(how: Json, steady: (value: Json) => Json): Json[] {
    const view = (how === true ? {} : how) as LogView
    const calls = this.#calls.filter((call, i, all) => !all.slice(i + 1).some((later) => isRetryOf(later, call)))
    this.#calls = []
    const seen = (view.conversions === undefined ? shown(calls, view) : conversionsTo(calls, view.conversions)).map(
      steady,
    )
    if (view.sorted !== true && view.conversions === undefined) return seen
    const texts = seen.map((one) => JSON.stringify(one)).sort()
    const kept = view.conversions === undefined ? texts : [...new Set(texts)]
    return kept.map((text) => JSON.parse(text) as Json)
  }

  async #answer(call: Call, url: string): Promise<ReturnType<typeof hookAnswer>> {
    const { body } = call
    const { object, oldObject } = body.request ?? {}
    const { labels } = (((object ?? oldObject) as Tree | undefined)?.['metadata'] as { labels?: Tree } & Tree) ?? {}
    if (!('probe' in (labels ?? {}))) this.#calls.push(call)
    const words = url.split('?', 1)[0]!.split('/').slice(1).map(decodeURIComponent)
    if (words[0] !== 'delay') return hookAnswer(words, body, this.#replies)
    await sleep(Number(words[1]))
    return hookAnswer(words.slice(2), body, this.#replies)
  }
}

function reviewOf(bytes: Buffer): HookReview {
  try {
    return JSON.parse(bytes.toString()) as HookReview
  } catch {
    return {}
  }
}

/** A server that finds that it worked on an older object tries an update or a deletion again: the last call counts. */
function isRetryOf(later: Call, call: Call): boolean {
  const key = retryKey(call)
  return key !== undefined && key === retryKey(later)
}

function retryKey({ call, body: { request = {} } }: Call): string | undefined {
  const { operation, resource, subResource, namespace, name, oldObject, object } = request
  if (operation !== 'UPDATE' && operation !== 'DELETE') return undefined
  const { metadata } = (oldObject ?? object ?? {}) as { metadata?: { name?: string } }
  return JSON.stringify([call, operation, resource, subResource, namespace, name, metadata?.name])
}

function shown(calls: readonly Call[], { brief = false }: LogView): Json[] {
  return brief ? calls.map(briefly) : (calls as unknown as Json[])
}

const resourceText = (resource: Json | undefined): string => {
  const { group, version, resource: name } = (resource ?? {}) as Record<string, string>
  return [group, version, name].filter((part) => part !== undefined && part !== '').join('/')
}

function briefly({ call, body: { request = {} } }: Call): string {
  const { operation, resource, subResource, namespace = '', name = '', dryRun, requestResource } = request
  const path = call.slice('POST '.length).split('?', 1)[0]
  const part = subResource ? `/${String(subResource)}` : ''
  const own = resourceText(resource)
  const asked = requestResource ? resourceText(requestResource) : own
  const dry = dryRun === true ? ' dry' : ''
  const other = asked === own ? '' : ` for ${asked}`
  return `${path} ${String(operation)} ${own}${part} ${String(namespace)}/${String(name)}${dry}${other}`
}

const KEPT_METADATA = ['name', 'namespace', 'labels', 'annotations']

function conversionsTo(calls: readonly Call[], version: string): Json[] {
  return calls.flatMap(({ body: { kind, apiVersion: review = '', request = {} } }) => {
    const desiredAPIVersion = String(request['desiredAPIVersion'] ?? '')
    if (kind !== 'ConversionReview' || !desiredAPIVersion.endsWith(`/${version}`)) return []
    return ((request['objects'] ?? []) as Tree[]).map((object): Json => {
      const metadata = Object.entries((object['metadata'] ?? {}) as Tree).filter(([name]) =>
        KEPT_METADATA.includes(name),
      )
      return { desiredAPIVersion, object: { ...object, metadata: Object.fromEntries(metadata) }, review }
    })
  })
}

/**
 * Thread: any. Asks a webhook of authentication or authorization: it sends an object and gets it back with its status.
 * Failures that may pass by themselves (no connection, 429, 5xx) are tried again, with growing pauses; everything else
 * is an answer.
 */
import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isJsonObject, type Json, type JsonObject } from '../api/object.js'
import type { Clock } from '../lib/clock.js'
import { jitter, type Random } from '../lib/jitter.js'
import type { Closable } from '../lib/lifecycle.js'
import type { ClientMetrics } from '../metrics/client-metrics.js'
import type { Kubeconfig } from '../protocol/kubeconfig.js'
import { tlsOptions, tokenHeaders } from './kubeconfig.js'

export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  /** Whether another try could end differently. */
  readonly passing: boolean
  /** Whether there was no answer in time. */
  readonly timedOut: boolean

  constructor(message: string, passing: boolean, timedOut = false) {
    super(message)
    this.passing = passing
    this.timedOut = timedOut
  }
}

export interface WebhookClientOptions {
  readonly kubeconfig: Kubeconfig
  readonly clock: Clock
  readonly random: Random
  /** The time of one try, from the connection to the end of the answer. */
  readonly timeoutMs?: number
  readonly tries?: number
  /** Whether a try that had no answer in time is followed by another; it is unless this says otherwise. */
  readonly retriesLate?: boolean
  /** The pause before the second try. */
  readonly firstPauseMs?: number
  readonly metrics?: ClientMetrics
}

const TIMEOUT_MS = 10_000
/** As many tries, and as far apart, as kube-apiserver's: 0.5 s, 0.75 s, 1.1 s, 1.7 s, each up to a fifth longer. */
const TRIES = 5
const FIRST_PAUSE_MS = 500
const PAUSE_FACTOR = 1.5
const PAUSE_JITTER = 0.2
/** The largest answer; most have a few hundred bytes. */
const MAX_ANSWER_BYTES = 1 << 20

export class WebhookClient implements Closable {
  readonly #options: WebhookClientOptions
  readonly #url: URL
  readonly #agent: HttpAgent | HttpsAgent

  constructor(options: WebhookClientOptions) {
    this.#options = options
    const { kubeconfig } = options
    this.#url = new URL(kubeconfig.server)
    const keepAlive = { keepAlive: true, maxFreeSockets: 8 }
    this.#agent =
      this.#url.protocol === 'https:'
        ? new HttpsAgent({ ...keepAlive, ...tlsOptions(kubeconfig) })
        : new HttpAgent(keepAlive)
  }

  /** The review that the webhook answers with, of the kind and version that it was asked in. Throws WebhookError. */
  async review(object: JsonObject): Promise<JsonObject> {
    return this.#try(async () => parseAnswer(await this.#post(JSON.stringify(object)), object))
  }

  /** Sends a body; any answer that means success will do. Throws WebhookError. */
  async send(body: string): Promise<void> {
    await this.#try(() => this.#post(body))
  }

  async #try<T>(attempt: () => Promise<T>): Promise<T> {
    const { tries = TRIES, firstPauseMs: pause = FIRST_PAUSE_MS, clock, random } = this.#options
    let pauseMs = pause
    for (let left = tries; ; left--) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof WebhookError) || !error.passing || left <= 1) throw error
      }
      const wait = jitter(pauseMs, PAUSE_JITTER, random)
      await new Promise<void>((resolve) => clock.after(wait, resolve))
      pauseMs *= PAUSE_FACTOR
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #late(): WebhookError {
    return new WebhookError(`${this.#url.href}: no answer in time`, this.#options.retriesLate ?? true, true)
  }

  #post(body: string): Promise<Buffer> {
    const secure = this.#url.protocol === 'https:'
    const options: RequestOptions = {
      method: 'POST',
      agent: this.#agent,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...tokenHeaders(this.#options.kubeconfig),
        'content-length': String(Buffer.byteLength(body)),
      },
    }
    return new Promise<Buffer>((resolve, reject) => {
      const { metrics, clock, timeoutMs = TIMEOUT_MS } = this.#options
      // A service that sends a byte now and then is as good as one that is silent.
      let late = false
      const deadline = clock.after(timeoutMs, () => {
        late = true
        request.destroy(new Error('no answer in time'))
      })
      const answered = (response: IncomingMessage): void => {
        metrics?.answered('POST', this.#url.host, response.statusCode)
        readAnswer(response)
          .then(resolve, (error: unknown) => reject(late ? this.#late() : error))
          .finally(() => deadline.cancel())
      }
      const request = secure ? requestHttps(this.#url, options, answered) : requestHttp(this.#url, options, answered)
      request.on('error', (error) => {
        deadline.cancel()
        metrics?.failed('POST', this.#url.host)
        reject(late ? this.#late() : new WebhookError(`${this.#url.href}: ${error.message}`, true))
      })
      request.end(body)
    })
  }
}

async function readAnswer(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.byteLength
      if (size > MAX_ANSWER_BYTES) throw new WebhookError('the webhook’s answer is too long', false)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof WebhookError) throw error
    throw new WebhookError(`the webhook’s answer broke off: ${String(error)}`, true)
  }
  const status = response.statusCode ?? 0
  if (status < 200 || status > 299)
    throw new WebhookError(`the webhook answered with status ${status}`, status === 429 || status >= 500)
  return Buffer.concat(chunks)
}

/**
 * What is no review of the kind that was asked for is a failure, never an answer: another service at the address of the webhook
 * must not pass for one that has no opinion.
 */
function parseAnswer(answer: Buffer, { apiVersion, kind }: JsonObject): JsonObject {
  let review: Json
  try {
    review = JSON.parse(answer.toString('utf8')) as Json
  } catch (error) {
    throw new WebhookError(`the webhook’s answer is not JSON: ${String(error)}`, false)
  }
  if (!isJsonObject(review)) throw new WebhookError('the webhook’s answer is no object', false)
  if (review['kind'] !== kind || review['apiVersion'] !== apiVersion)
    throw new WebhookError(`the webhook’s answer is no ${String(kind)} of ${String(apiVersion)}`, false)
  return review
}

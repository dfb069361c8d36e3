/**
 * Plays a recorded suite against a server: namespaces of its own, every request in its order, and each answer in the form in
 * which recordings are kept (values that differ from run to run are replaced by what they are: `<uid>`, `<time>`).
 */
import http from 'node:http'
import https from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from './edits.js'
import type { RecordedAnswer, RecordedStep, RecordedSuite } from './recording.js'
import { RecordedWebhooks } from './webhook-server.js'

/** The form of an answer that a server gave; status 0 is a connection that broke. */
export type PlayedAnswer = RecordedAnswer

type Variables = Record<string, string>

interface RawAnswer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly bytes: Buffer
}

export interface PlayerOptions {
  /** Where the server listens. */
  readonly url: string
  readonly token: string
  /** Parts of the names of namespaces; suites that are played again get others. */
  readonly random?: () => number
}

/** An answer that does not end is taken as far as it has come. */
const ANSWER_DEADLINE_MS = 15_000
/** A request with `until` is repeated at this interval, as often as it says. */
const ASK_AGAIN_MS = 100
const DEFAULT_TRIES = 50

export class RecordingPlayer {
  readonly #url: URL
  readonly #token: string
  readonly #random: () => number
  readonly #library: typeof http | typeof https
  readonly #agent: http.Agent
  #webhooks: RecordedWebhooks | undefined

  constructor({ url, token, random = Math.random }: PlayerOptions) {
    this.#url = new URL(url)
    this.#token = token
    this.#random = random
    const secure = this.#url.protocol === 'https:'
    this.#library = secure ? https : http
    this.#agent = secure
      ? new https.Agent({ keepAlive: true, rejectUnauthorized: false })
      : new http.Agent({ keepAlive: true })
  }

  close(): void {
    this.#webhooks?.close()
    this.#agent.destroy()
  }

  /** The answers of a suite by the ids of their steps. */
  async play(suite: RecordedSuite): Promise<Map<string, PlayedAnswer>> {
    const variables: Variables = { ns: this.#name('c'), ns2: this.#name('d'), ...(await this.#webhooksFor(suite)) }
    for (const name of suite.namespaces) await this.#createNamespace(variables[name] ?? name)
    const answers = new Map<string, PlayedAnswer>()
    const background = new Map<string, { readonly step: RecordedStep; readonly answer: Promise<RawAnswer> }>()
    for (const step of suite.steps) {
      if (step.sleepMs !== undefined) await sleep(step.sleepMs)
      if (step.hookLog !== undefined) {
        const calls = this.#webhooks?.take(step.hookLog, (value) => steady(value, variables)) ?? []
        const body: Json = { kind: 'HookLog', calls }
        if (step.want !== undefined)
          answers.set(step.id ?? '', { status: calls.length, contentType: 'application/json', warnings: 0, body })
      } else if (step.await !== undefined) {
        const { step: sent, answer } = background.get(step.await)!
        answers.set(step.await, seen(sent, await answer, variables))
      } else if (step.background !== undefined) {
        background.set(step.id ?? '', { step, answer: this.#send(step, variables) })
        await sleep(step.background)
      } else {
        const answer = await this.#ask(step, variables)
        if (step.want !== undefined) answers.set(step.id ?? '', seen(step, answer, variables))
      }
    }
    return answers
  }

  /** The variables of a suite with webhooks; its server is started for the first of them. */
  async #webhooksFor({ webhooks, replies }: RecordedSuite): Promise<Variables> {
    if (!webhooks) return {}
    if (this.#webhooks === undefined) {
      this.#webhooks = new RecordedWebhooks()
      await this.#webhooks.start()
    }
    this.#webhooks.begin(replies)
    return this.#webhooks.variables()
  }

  #name(prefix: string): string {
    return `${prefix}-${this.#random().toString(36).slice(2, 14)}`
  }

  async #createNamespace(name: string): Promise<void> {
    const body: Json = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    const { status } = await this.#send({ method: 'POST', path: '/api/v1/namespaces', body }, {})
    if (status !== 201) throw new Error(`the namespace ${name} could not be created: ${status}`)
  }

  async #ask(step: RecordedStep, variables: Variables): Promise<RawAnswer> {
    let answer = await this.#send(step, variables)
    const tries = step.until === undefined ? 0 : (step.tries ?? DEFAULT_TRIES)
    for (let i = 0; i < tries && answer.status !== step.until; i++) {
      await sleep(ASK_AGAIN_MS)
      answer = await this.#send(step, variables)
    }
    if (step.save !== undefined) {
      const document = parsed(answer.bytes.toString())
      for (const [name, field] of Object.entries(step.save)) variables[name] = textAt(document, field)
    }
    return answer
  }

  #send(step: RecordedStep, variables: Variables): Promise<RawAnswer> {
    const body = bodyOf(step, variables)
    const request = this.#library.request(this.#url, {
      agent: this.#agent,
      method: step.method,
      path: filled(step.path, variables),
      headers: this.#headers(step, body, variables),
    })
    return new Promise((resolve) => {
      request.on('error', (error) => resolve({ status: 0, headers: {}, bytes: Buffer.from(error.message) }))
      request.on('response', (response) => receive(step, request, response, resolve))
      request.end(body)
    })
  }

  #headers({ headers = {} }: RecordedStep, body: Buffer | undefined, variables: Variables): http.OutgoingHttpHeaders {
    const sent: http.OutgoingHttpHeaders = {
      authorization: `Bearer ${this.#token}`,
      'user-agent': 'replay/1.0',
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
    }
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) delete sent[name.toLowerCase()]
      else sent[name.toLowerCase()] = filled(value, variables)
    }
    return sent
  }
}

const NEWLINE = 0x0a

/** Reads an answer to its end, or of a watch as many events as are asked for. */
function receive(
  { watch }: RecordedStep,
  request: http.ClientRequest,
  response: http.IncomingMessage,
  resolve: (answer: RawAnswer) => void,
): void {
  const chunks: Buffer[] = []
  let lines = 0
  const finish = (): void => {
    clearTimeout(deadline)
    resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) })
  }
  const cut = (): void => {
    finish()
    request.destroy()
  }
  const deadline = setTimeout(cut, watch?.timeoutMs ?? ANSWER_DEADLINE_MS)
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    if (watch === undefined || response.statusCode !== 200) return
    for (const byte of chunk) if (byte === NEWLINE) lines++
    if (lines >= watch.events) cut()
  })
  for (const event of ['end', 'error', 'close']) response.on(event, finish)
}

const filled = (text: string, variables: Variables): string =>
  text.replace(/\$\{([\w.]+)\}/g, (whole, name: string) => variables[name] ?? whole)

function bodyOf({ body, rawBody, rawBase64, repeatBody }: RecordedStep, variables: Variables): Buffer | undefined {
  if (rawBody !== undefined)
    return rawBase64 === true ? Buffer.from(rawBody, 'base64') : Buffer.from(filled(rawBody, variables))
  if (repeatBody !== undefined) {
    const { head, unit, times, tail } = repeatBody
    return Buffer.from(filled(head, variables) + unit.repeat(times) + filled(tail, variables))
  }
  return body === undefined ? undefined : Buffer.from(filled(JSON.stringify(body), variables))
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function textAt(document: Json | undefined, field: string): string {
  let value: unknown = document
  for (const name of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[name]
  return String(value ?? '')
}

/** Text that is no JSON is kept this far. */
const TEXT_CHARACTERS = 4000

function seen(step: RecordedStep, { status, headers, bytes }: RawAnswer, variables: Variables): PlayedAnswer {
  const contentType = (headers['content-type'] ?? '').toLowerCase().replace(/\s+/g, '')
  const warnings = warningsOf(headers)
  const { keepHeaders, warningTails } = step
  const text = bytes.toString('utf8')
  return {
    status,
    contentType,
    warnings: warnings.length,
    ...(warningTails === true ? { warningTails: warnings.map((warning) => steady(tail(warning), variables)) } : {}),
    ...(keepHeaders === undefined
      ? {}
      : { headers: Object.fromEntries(keepHeaders.map((name) => [name, (headers[name] as string) ?? null])) }),
    ...bodySeen(step, status, contentType, bytes, text, variables),
  }
}

function bodySeen(
  { opaque, watch, messageHas }: RecordedStep,
  status: number,
  contentType: string,
  bytes: Buffer,
  text: string,
  variables: Variables,
): Pick<PlayedAnswer, 'body' | 'events' | 'messageHas' | 'magic'> {
  if (opaque === true) return { body: text === '' ? '' : '<opaque>' }
  if (watch !== undefined && status === 200) return { events: eventsOf(text, watch, variables) }
  const document = contentType.includes('json') ? parsed(text) : undefined
  if (document !== undefined) {
    const message = textAt(document, 'message')
    const has = messageHas === undefined ? {} : { messageHas: messageHas.filter((part) => message.includes(part)) }
    return { body: steady(document, variables), ...has }
  }
  if (/protobuf|cbor/.test(contentType))
    return { body: bytes.length > 0 ? '<binary>' : '<empty>', magic: bytes.subarray(0, 4).toString('hex') }
  return { body: steady(text.slice(0, TEXT_CHARACTERS), variables) }
}

const byText = (a: Json, b: Json): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

function eventsOf(text: string, watch: NonNullable<RecordedStep['watch']>, variables: Variables): Json[] {
  const lines = text.split('\n').filter((line) => line !== '')
  const events = lines.slice(0, watch.events).map((line) => steady(parsed(line) ?? '<unparsable>', variables))
  return watch.unordered === true ? events.sort(byText) : events
}

const warningsOf = ({ warning }: http.IncomingHttpHeaders): string[] =>
  warning === undefined ? [] : String(warning).split(/,\s*(?=299)/)

const tail = (warning: string): string =>
  warning
    .trim()
    .replace(/^299 \S+ "(.*)"$/, '$1')
    .split("': ")
    .at(-1)!

/** What differs from run to run, by the name of its field. */
const UNSTEADY: Readonly<Record<string, string>> = {
  uid: '<uid>',
  resourceVersion: '<rv>',
  continue: '<continue>',
  selfLink: '<selfLink>',
  storageVersionHash: '<hash>',
}
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const AGE = /^(\d+[smhdy])+$/
const PORTS = new Set(['nodePort', 'healthCheckNodePort'])
/** A certificate authority that is longer than this is a real one. */
const CA_CHARACTERS = 200

/** A value with what differs from run to run replaced, and its fields sorted. */
function steady<T extends Json>(value: T, variables: Variables): T {
  return steadyAt(value, variables, '', false) as T
}

function steadyAt(value: Json, variables: Variables, name: string, isItem: boolean): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => steadyAt(item, variables, name, true))
    return name === 'managedFields' ? items.sort(byText) : items
  }
  if (value !== null && typeof value === 'object') return steadyFields(value, variables)
  if (typeof value === 'string') return steadyText(value, variables, name, isItem)
  return typeof value === 'number' && value !== 0 && PORTS.has(name) ? '<port>' : value
}

function steadyFields(value: { [field: string]: Json }, variables: Variables): Json {
  const names = Object.keys(value).sort()
  const fields = Object.fromEntries(names.map((name) => [name, steadyAt(value[name]!, variables, name, false)]))
  const { generateName, name } = value
  if (typeof generateName === 'string' && typeof name === 'string' && name.startsWith(generateName))
    fields['name'] = `${generateName}<rand>`
  return fields
}

function steadyText(value: string, variables: Variables, name: string, isItem: boolean): string {
  const hidden = UNSTEADY[name]
  if (hidden !== undefined && value !== '' && value !== '0') return hidden
  if ((name === 'clusterIP' || name === 'clusterIPs') && value !== 'None' && value !== '') return '<ip>'
  if (name === 'token' || (name === 'caBundle' && value.length > CA_CHARACTERS)) return '<token>'
  if (TIME.test(value)) return '<time>'
  let text = value
  for (const variable of ['ns', 'ns2']) text = text.replaceAll(variables[variable]!, `\${${variable}}`)
  if (isItem && name === 'cells' && AGE.test(text)) return '<age>'
  return text
    .replace(UID, '<uid>')
    .replace(/\bgen-[a-z0-9]{5}\b/g, 'gen-<rand>')
    .replace(/\b10\.96\.\d+\.\d+\b/g, '<ip>')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>')
    .replace(/resourceVersion: "\d+"/g, 'resourceVersion: <rv>')
}

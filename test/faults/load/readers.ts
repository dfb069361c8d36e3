/** Lists of every kind, page by page, and watches from every kind of starting point. */
import type { List, Page, WatchEvent } from '../check/history.js'
import type { Answer, ServerAddress } from './http-exchange.js'
import { type LoadObject, type Recorder, seenOf } from './recorder.js'
import { collectionOf, type LoadResource, prefixOf } from './resources.js'

interface ListBody {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items?: readonly LoadObject[]
}

export interface ListOptions {
  readonly resource: LoadResource
  readonly namespace: string
  readonly match: List['match']
  readonly asked?: number
  readonly limit?: number
}

/** Gives the list's revision, or undefined when not even its first page came. */
export async function listObjects(
  server: ServerAddress,
  recorder: Recorder,
  { resource, namespace, match, asked, limit }: ListOptions,
): Promise<number | undefined> {
  const query = new URLSearchParams()
  if (asked !== undefined) query.set('resourceVersion', String(asked))
  if (match === 'exact') query.set('resourceVersionMatch', 'Exact')
  if (match === 'at-least' && asked !== undefined) query.set('resourceVersionMatch', 'NotOlderThan')
  if (limit !== undefined) query.set('limit', String(limit))
  const ask = (parameters: URLSearchParams): Promise<Answer | undefined> => {
    recorder.requests++
    return server.exchange({ method: 'GET', path: `${collectionOf(resource, namespace)}?${parameters}` })
  }
  const prefix = prefixOf(resource, namespace)
  const calledMs = recorder.nowMs()
  let answer = await ask(query)
  const returnedMs = recorder.nowMs()
  const pages: Page[] = []
  let next: string | undefined
  while (answer?.status === 200) {
    const { metadata, items = [] } = answer.body as ListBody
    pages.push({ revision: Number(metadata.resourceVersion), items: items.map((item) => seenOf(prefix, item)) })
    next = metadata.continue
    if (next === undefined || next === '') break
    answer = await ask(new URLSearchParams({ limit: String(limit), continue: next }))
  }
  if (pages.length === 0) return undefined
  const whole = answer?.status === 200
  const base = { kind: 'list', server: server.name, prefix, calledMs, returnedMs, match, pages, whole } as const
  recorder.add(asked === undefined ? base : { ...base, asked })
  recorder.see(pages[0]!.revision)
  return pages[0]!.revision
}

export interface WatchOptions {
  readonly resource: LoadResource
  readonly namespace: string
  readonly from?: number
  readonly initial?: boolean
}

interface EventLine {
  readonly type: WatchEvent['type'] | 'ERROR'
  readonly object: LoadObject
}

const INITIAL_END = 'k8s.io/initial-events-end'

/** One stream of events, until it is closed from either side. */
export class WatchReader {
  readonly #options: WatchOptions
  readonly #server: ServerAddress
  readonly #recorder: Recorder
  readonly #events: WatchEvent[] = []
  readonly ended: Promise<void>
  readonly #close: () => void
  /** The revision that the stream has come to: where to go on after it. */
  reached: number | undefined
  /** It was told to begin again with a list. */
  expired = false
  awaited = false

  constructor(server: ServerAddress, recorder: Recorder, options: WatchOptions) {
    this.#options = options
    this.#server = server
    this.#recorder = recorder
    this.reached = options.from
    const query = new URLSearchParams({ watch: '1', allowWatchBookmarks: 'true' })
    if (options.from !== undefined) query.set('resourceVersion', String(options.from))
    if (options.initial === true) {
      query.set('sendInitialEvents', 'true')
      query.set('resourceVersionMatch', 'NotOlderThan')
    }
    recorder.requests++
    const path = `${collectionOf(options.resource, options.namespace)}?${query}`
    let close = (): void => undefined
    this.ended = new Promise((resolve) => {
      const done = (status: number | undefined): void => {
        if (status === 410) this.expired = true
        this.#record()
        resolve()
      }
      close = server.lines(path, (line) => this.#take(line), done)
    })
    this.#close = close
  }

  get isEmpty(): boolean {
    return this.#events.length === 0
  }

  close(): Promise<void> {
    this.#close()
    return this.ended
  }

  #take(line: string): void {
    const { type, object } = parsed(line)
    if (type === 'ERROR') {
      if ((object as { code?: number }).code === 410) this.expired = true
      return
    }
    if (object.metadata?.resourceVersion === undefined) return
    const atMs = this.#recorder.nowMs()
    const seen = seenOf(prefixOf(this.#options.resource, this.#options.namespace), object)
    if (type === 'BOOKMARK') {
      const isEnd = object.metadata.annotations?.[INITIAL_END] === 'true'
      this.#events.push({ type, revision: seen.revision, atMs, ...(isEnd && { initialEnd: true }) })
    } else this.#events.push({ type, revision: seen.revision, atMs, seen })
    if (this.#isPastInitial()) this.reached = Math.max(this.reached ?? 0, seen.revision)
  }

  /** Initial events come in the order of keys: until the bookmark behind them there is nothing to go on from. */
  #isPastInitial(): boolean {
    const { initial = false, from = 0 } = this.#options
    return initial ? this.#events.some(({ initialEnd }) => initialEnd === true) : from > 0
  }

  #record(): void {
    const { resource, namespace, from, initial = false } = this.#options
    this.#recorder.add({
      kind: 'watch',
      server: this.#server.name,
      prefix: prefixOf(resource, namespace),
      ...(from !== undefined && { from }),
      initial,
      ...(this.awaited && { awaited: true }),
      events: this.#events,
    })
  }
}

/** A stream may be cut inside a line: what does not end with a newline never comes here. */
const parsed = (line: string): EventLine => JSON.parse(line) as EventLine

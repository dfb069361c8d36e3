/** Collects the history of a run while its clients work, and counts what is printed of it. */
import type { HistoryRecord, Operation, Seen } from '../check/history.js'

/** Every write carries its token here. */
export const TOKEN = 'faults.example.com/token'

/** The webhook puts the token here. */
export const STAMP = 'faults.example.com/stamp'

export interface LoadObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: {
    readonly name: string
    readonly resourceVersion?: string
    readonly finalizers?: readonly string[]
    readonly deletionTimestamp?: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly [field: string]: unknown
  }
  readonly spec?: { readonly clusterIP?: string; readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

export const revisionOf = ({ metadata }: LoadObject): number => Number(metadata.resourceVersion)

export function seenOf(prefix: string, object: LoadObject): Seen {
  const address = object.spec?.clusterIP
  const token = object.metadata.annotations?.[TOKEN] ?? ''
  const stamp = object.metadata.annotations?.[STAMP]
  return {
    key: `${prefix}${object.metadata.name}`,
    revision: revisionOf(object),
    token,
    ...(address !== undefined && { address }),
    ...(stamp !== undefined && { stamp }),
  }
}

export class Recorder {
  readonly records: HistoryRecord[] = []
  readonly #begunMs = performance.now()
  readonly #letter: string
  #tokens = 0
  requests = 0
  acknowledged = 0
  unknown = 0
  watchEvents = 0

  /** Tokens begin with the letter: another load on the same store takes another one. */
  constructor(letter = 't') {
    this.#letter = letter
  }

  nowMs(): number {
    return performance.now() - this.#begunMs
  }

  nextToken(): string {
    return `${this.#letter}${++this.#tokens}`
  }

  add(record: HistoryRecord): void {
    this.records.push(record)
    if (record.kind === 'watch') this.watchEvents += record.events.length
    if (record.kind === 'operation') this.#count(record)
  }

  /** The newest revision that any answer has named. */
  newest = 0
  /** Nobody asks for what was before it: another load may have been there then, whose requests are not in this history. */
  oldest = 1

  see(revision: number): void {
    if (revision > this.newest) this.newest = revision
  }

  #count({ verb, result }: Operation): void {
    if (result === 'unknown') this.unknown++
    else if (result === 'ok' && verb !== 'get') this.acknowledged++
  }
}

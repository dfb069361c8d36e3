/**
 * What clients saw of a run: every request with its interval, every list page by page, every watch event by event. Plain records,
 * so that a history can be kept as lines of JSON and checked again without the servers. Times are milliseconds of one clock.
 */

/** `unknown`: the connection was cut, the time was over or the server said 5xx. It may have happened, now or later, or never. */
export type Result = 'ok' | 'exists' | 'conflict' | 'absent' | 'refused' | 'unknown'

/** An object as somebody saw it. Every write puts a token of its own into the object, so a token names the write that left it. */
export interface Seen {
  readonly key: string
  readonly revision: number
  readonly token: string
  /** The address that was given to a Service. */
  readonly address?: string
  /** The token as the mutating webhook saw it. */
  readonly stamp?: string
}

export type Verb = 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'get'

export interface Operation {
  readonly kind: 'operation'
  readonly server: string
  readonly verb: Verb
  readonly key: string
  readonly calledMs: number
  /** When the answer came; undefined when its result is unknown. */
  readonly returnedMs?: number
  /** What a write leaves in the object. */
  readonly token?: string
  /** The resourceVersion that must be the stored one: compare and swap. */
  readonly expected?: number
  /** Whether the object has finalizers after the write; undefined: as before. */
  readonly finalizers?: boolean
  readonly result: Result
  /** Of a write: the revision that the answer names. */
  readonly revision?: number
  /** Of a get. */
  readonly seen?: Seen
}

export interface Page {
  readonly revision: number
  readonly items: readonly Seen[]
}

export interface List {
  readonly kind: 'list'
  readonly server: string
  /** Every key of it begins so. */
  readonly prefix: string
  readonly calledMs: number
  /** When the first page came: what the list shows is decided by then. */
  readonly returnedMs: number
  /** `fresh`: without a resourceVersion. `at-least`: not older than `asked` (0: anything). `exact`: at `asked`. */
  readonly match: 'fresh' | 'at-least' | 'exact'
  readonly asked?: number
  readonly pages: readonly Page[]
  /** False when a later page did not come. */
  readonly whole: boolean
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly revision: number
  /** Undefined in a bookmark. */
  readonly seen?: Seen
  /** The bookmark that ends the initial events. */
  readonly initialEnd?: boolean
  readonly atMs: number
}

export interface Watch {
  readonly kind: 'watch'
  readonly server: string
  readonly prefix: string
  /** Events after this revision; undefined or 0: the state of some moment as ADDED events, then what came after it. */
  readonly from?: number
  /** The initial state was asked for, and a bookmark ends it. */
  readonly initial: boolean
  /** It was kept open until the run was over: it must have reached the end. */
  readonly awaited?: boolean
  readonly events: readonly WatchEvent[]
}

/** A write that was answered when everything else was over and healed: watches that were kept open must come to it. */
export interface End {
  readonly kind: 'end'
  readonly prefix: string
  readonly revision: number
}

export type HistoryRecord = Operation | List | Watch | End
export type History = readonly HistoryRecord[]

export const toLines = (history: History): string => history.map((record) => `${JSON.stringify(record)}\n`).join('')

export const fromLines = (text: string): History =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as HistoryRecord)

/** Something that no correct server can do, in words that name the property. */
export interface Violation {
  readonly property: string
  readonly what: string
}

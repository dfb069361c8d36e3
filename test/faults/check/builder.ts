/** Histories in few words, for the tests of the checks. */
import type { List, Operation, Result, Seen, Verb, Watch, WatchEvent } from './history.js'

export const KEY = 'configmaps/a/x'

export const seen = (token: string, revision: number, key = KEY): Seen => ({ key, revision, token })

/** A write or get between two moments; no second moment: never answered. */
export function op(
  verb: Verb,
  [calledMs, returnedMs]: readonly [number, number?],
  result: Result,
  rest: Partial<Operation> = {},
): Operation {
  const returned = returnedMs === undefined ? {} : { returnedMs }
  return { kind: 'operation', server: 's', verb, key: KEY, calledMs, ...returned, result, ...rest }
}

export const read = (at: readonly [number, number], token: string, revision: number): Operation =>
  op('get', at, 'ok', { seen: seen(token, revision) })

export const list = (pages: readonly (readonly Seen[])[], revision: number, rest: Partial<List> = {}): List => ({
  kind: 'list',
  server: 's',
  prefix: 'configmaps/a/',
  calledMs: 1000,
  returnedMs: 1001,
  match: 'at-least',
  pages: pages.map((items) => ({ revision, items })),
  whole: true,
  ...rest,
})

export const event = (type: WatchEvent['type'], token: string, revision: number, key = KEY): WatchEvent =>
  type === 'BOOKMARK'
    ? { type, revision, atMs: 1000, ...(token === 'end' && { initialEnd: true }) }
    : { type, revision, atMs: 1000, seen: seen(token, revision, key) }

export const watch = (events: readonly WatchEvent[], rest: Partial<Watch> = {}): Watch => ({
  kind: 'watch',
  server: 's',
  prefix: 'configmaps/a/',
  initial: false,
  events,
  ...rest,
})

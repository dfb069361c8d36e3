/** Revisions follow real time over all objects and all servers: what was answered before something was asked is older than it. */
import type { History, Violation } from './history.js'

interface Timed {
  readonly what: string
  readonly revision: number
  readonly calledMs: number
  readonly returnedMs: number
  /** A list is at least as new as what was answered before it; a write is newer. */
  readonly isList: boolean
}

export function checkRealTime(history: History): Violation[] {
  const timed = history.flatMap((record): Timed[] => {
    if (record.kind === 'list' && record.match === 'fresh') {
      const { calledMs, returnedMs, pages } = record
      const what = `list of ${record.prefix} at ${record.server}`
      return pages.slice(0, 1).map(({ revision }) => ({ what, revision, calledMs, returnedMs, isList: true }))
    }
    if (record.kind !== 'operation' || record.result !== 'ok') return []
    const { verb, key, server, revision, calledMs, returnedMs } = record
    if (verb === 'get' || verb === 'delete' || revision === undefined || returnedMs === undefined) return []
    return [{ what: `${verb} of ${key} at ${server}`, revision, calledMs, returnedMs, isList: false }]
  })
  const byCall = [...timed].sort((a, b) => a.calledMs - b.calledMs)
  const byReturn = [...timed].sort((a, b) => a.returnedMs - b.returnedMs)
  const violations: Violation[] = []
  let newest: Timed | undefined
  let next = 0
  for (const one of byCall) {
    for (; byReturn[next] !== undefined && byReturn[next]!.returnedMs < one.calledMs; next++)
      if (newest === undefined || byReturn[next]!.revision > newest.revision) newest = byReturn[next]
    if (newest === undefined) continue
    // Two writes never share a revision; a list may tell the revision that a write or a list told before it.
    const isOld = one.isList || newest.isList ? one.revision < newest.revision : one.revision <= newest.revision
    if (isOld)
      violations.push({
        property: 'real time',
        what: `${one.what} has revision ${one.revision}, though ${newest.what} had been answered with ${newest.revision} before`,
      })
  }
  return violations
}

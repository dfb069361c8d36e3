/** Every list, page by page, is the state of one revision, that revision is as new as was asked for, and its keys ascend. */
import type { History, List, Seen, Violation } from './history.js'
import { type Timeline, told } from './timeline.js'

export function checkLists(history: History, timeline: Timeline): Violation[] {
  return history.flatMap((record) => (record.kind === 'list' ? checkList(record, timeline) : []))
}

function checkList(list: List, timeline: Timeline): Violation[] {
  const said = `list of ${list.prefix} (${list.match} ${list.asked ?? ''}) at ${list.server}`
  const violations: Violation[] = []
  const wrong = (property: string, what: string): void => void violations.push({ property, what: `${said}: ${what}` })
  const [first] = list.pages
  if (first === undefined) return []
  const { revision } = first
  for (const page of list.pages)
    if (page.revision !== revision) wrong('one revision', `a page is of ${page.revision}, the first of ${revision}`)
  const { asked = 0 } = list
  if (list.match === 'exact' && revision !== asked) wrong('exact', `it is of ${revision}`)
  if (revision < asked) wrong('not older', `it is of ${revision}`)
  const items = list.pages.flatMap((page) => page.items)
  checkKeys(list, items, wrong)
  checkState(list, revision, items, timeline, wrong)
  return violations
}

type Wrong = (property: string, what: string) => void

function checkKeys({ prefix }: List, items: readonly Seen[], wrong: Wrong): void {
  for (const [i, { key }] of items.entries()) {
    if (!key.startsWith(prefix)) wrong('scope', `${key} is not below it`)
    const before = items[i - 1]?.key
    if (before === key) wrong('pages', `${key} comes twice`)
    else if (before !== undefined && before > key) wrong('pages', `${key} comes after ${before}`)
  }
}

/** What the timeline knows of the revision is what the list shows. A list that was broken off is held to the keys it reached. */
function checkState(list: List, revision: number, items: readonly Seen[], timeline: Timeline, wrong: Wrong): void {
  const shown = new Map(items.map((item) => [item.key, item]))
  const last = items.at(-1)?.key
  for (const key of timeline.byKey.keys()) {
    if (!key.startsWith(list.prefix)) continue
    const at = timeline.at(key, revision)
    const item = shown.get(key)
    if (item !== undefined && item.revision > revision)
      wrong('one revision', `${key} is shown at ${item.revision}, and the list is of ${revision}`)
    else if (at === undefined) continue
    else if (item !== undefined && item.revision !== at.revision)
      wrong(
        'one revision',
        `${key} is shown at ${item.revision}, but at ${revision} there is the ${told(at)} of ${at.revision}`,
      )
    else if (item === undefined && at.type === 'put' && (list.whole || (last !== undefined && key < last)))
      wrong('one revision', `${key} is missing, but at ${revision} there is the ${told(at)} of ${at.revision}`)
  }
}

/**
 * The difference between two JSON values as a short list of edits, and the way back. Recorded bodies are mostly one specimen
 * with one field changed: kept as edits of an earlier body, the change is what a reader sees.
 */
export type Json = null | boolean | number | string | Json[] | { [field: string]: Json }
type Fields = { [field: string]: Json }

/**
 * One edit, at a JSON pointer (RFC 6901): [pointer, value] sets a field or an item, [pointer] takes it away, and a third part
 * (1) puts a new item in before the one that is there. Edits are made in their order.
 */
export type Edit = [pointer: string] | [pointer: string, value: Json] | [pointer: string, value: Json, insert: 1]

const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~')

function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => sameJson(item, b[i] as Json))
  if (!isFields(a) || !isFields(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name] as Json, b[name] as Json))
  )
}

/** The edits that make `to` of `from`. */
export function editsBetween(from: Json, to: Json, at = ''): Edit[] {
  if (from === to) return []
  if (isFields(from) && isFields(to)) return fieldEdits(from, to, at)
  if (Array.isArray(from) && Array.isArray(to)) return itemEdits(from, to, at)
  return [[at, to]]
}

function fieldEdits(from: Fields, to: Fields, at: string): Edit[] {
  const edits: Edit[] = []
  for (const name of Object.keys(from)) if (!Object.hasOwn(to, name)) edits.push([`${at}/${escaped(name)}`])
  for (const [name, value] of Object.entries(to)) {
    const place = `${at}/${escaped(name)}`
    if (Object.hasOwn(from, name)) edits.push(...editsBetween(from[name] as Json, value, place))
    else edits.push([place, value])
  }
  return edits
}

/** What is the same at both ends of the lists stays; what lies between is edited item by item. */
function itemEdits(from: Json[], to: Json[], at: string): Edit[] {
  if (from.length === to.length) return from.flatMap((item, i) => editsBetween(item, to[i] as Json, `${at}/${i}`))
  const shorter = Math.min(from.length, to.length)
  let head = 0
  while (head < shorter && sameJson(from[head] as Json, to[head] as Json)) head++
  let tail = 0
  while (tail < shorter - head && sameJson(from[from.length - 1 - tail] as Json, to[to.length - 1 - tail] as Json))
    tail++
  const edits: Edit[] = []
  const common = shorter - tail
  for (let i = head; i < common; i++) edits.push(...editsBetween(from[i] as Json, to[i] as Json, `${at}/${i}`))
  for (let i = common; i < from.length - tail; i++) edits.push([`${at}/${common}`])
  for (let i = common; i < to.length - tail; i++) edits.push([`${at}/${i}`, to[i] as Json, 1])
  return edits
}

/** A new value: `from` after the edits. What they leave alone is shared by both, so neither may be changed afterwards. */
export function edited(from: Json, edits: readonly Edit[]): Json {
  return edits.reduce((value, edit) => editedAt(value, edit[0].split('/').slice(1).map(unescaped), edit), from)
}

function editedAt(value: Json, names: readonly string[], edit: Edit): Json {
  const [name, ...below] = names
  if (name === undefined) return edit[1] as Json
  if (value === null || typeof value !== 'object') throw new Error(`there is nothing to edit at ${edit[0]}`)
  if (Array.isArray(value)) return editedItems(value, Number(name), below, edit)
  const copy = { ...value }
  if (below.length > 0) copy[name] = editedAt(value[name] as Json, below, edit)
  else if (edit.length === 1) delete copy[name]
  else copy[name] = edit[1]
  return copy
}

function editedItems(items: Json[], index: number, below: readonly string[], edit: Edit): Json[] {
  if (below.length > 0) return items.with(index, editedAt(items[index] as Json, below, edit))
  if (edit.length === 1) return items.toSpliced(index, 1)
  return items.toSpliced(index, edit.length === 3 ? 0 : 1, edit[1])
}

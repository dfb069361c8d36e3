/** Tells what a server says in its own words from what it was given or must say alike, and takes the words out. */
import type { Json } from './edits.js'
import { WORDS } from './recording.js'

/** Fields in which a server explains itself. */
const EXPLAINING = new Set(['message', 'description', 'reason', 'error', 'kubernetes.io/limit-ranger'])

/** Answers in plain words: not found by Go's router, and a connection that was closed. */
const PLAIN = /^(404 page not found\n|socket hang up)$/

/** Every text that a suite itself brings. */
export function textsOf(value: Json, texts = new Set<string>()): Set<string> {
  if (typeof value === 'string') texts.add(value)
  else if (value !== null && typeof value === 'object') for (const item of Object.values(value)) textsOf(item, texts)
  return texts
}

/** An answer without sentences: those of a Status and of table columns go, others become a mark. */
export function withoutWords(answer: Json, own: ReadonlySet<string>): Json {
  if (typeof answer === 'string') return PLAIN.test(answer) ? WORDS : answer
  return kept(answer, '', (text) => !isSentence(text) || own.has(text))
}

/** An answer without the message of a Status and without what table columns are about. */
export const withoutMessages = (answer: Json): Json => kept(answer, '', () => true)

function kept(value: Json, name: string, isKept: (text: string) => boolean): Json {
  if (typeof value === 'string') return EXPLAINING.has(name) && !isKept(value) ? WORDS : value
  if (Array.isArray(value)) return value.map((item) => kept(item, name, isKept))
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).filter(([field]) => !isServersOwn(value, name, field))
  return Object.fromEntries(entries.map(([field, item]) => [field, kept(item, field, isKept)]))
}

const isSentence = (text: string): boolean => text.split(' ').length > 2

/** The message of a Status and of its causes; what a table column is about. */
function isServersOwn(holder: { [field: string]: Json }, name: string, field: string): boolean {
  if (field === 'message') return (holder['kind'] === 'Status' && holder['apiVersion'] === 'v1') || name === 'causes'
  return field === 'description' && name === 'columnDefinitions'
}

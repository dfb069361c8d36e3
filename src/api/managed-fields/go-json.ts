/** Thread: any. JSON text as Go writes it: keys sorted, bigints whole. */
import type { Json } from '../object.js'

/** Text that is written as it is, which is the rule: looking for that and joining costs a fifth of having it escaped (ADR 30). */
const PLAIN = /^[ !#-[\]-~]*$/

export function goJson(value: Json): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  let text = ''
  for (const name of Object.keys(value).sort()) {
    const member = value[name]
    if (member !== undefined) text += `${text === '' ? '{' : ','}${quoted(name)}:${goJson(member)}`
  }
  return text === '' ? '{}' : `${text}}`
}

const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

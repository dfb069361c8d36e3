/** Thread: any. JSON text as Go writes it: keys sorted, bigints whole. */
import type { Json } from '../object.js'

export function goJson(value: Json): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.keys(value).filter((name) => value[name] !== undefined)
  return `{${members
    .sort()
    .map((name) => `${JSON.stringify(name)}:${goJson(value[name] ?? null)}`)
    .join(',')}}`
}

/** Thread: any. A JSON tree as Go prints it with %v, which some of Kubernetes' error messages show: map[a:1 b:[x y]]. */
import type { Json } from '../../../api/object.js'

export function goText(value: Json | undefined): string {
  if (value === undefined || value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (typeof value !== 'object') return String(value)
  const members = Object.keys(value).sort()
  return `map[${members.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`
}

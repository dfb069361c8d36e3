/** Thread: pool. Whether two objects say the same, as Kubernetes' semantic equality sees them. */
import { ownMember } from '../../lib/own-member.js'

type Members = Readonly<Record<string, unknown>>

/** An empty list counts as absent. An object without members does not: it may be what a pointer points at. */
const isNil = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

export function equalState(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (isNil(a) || isNil(b)) return isNil(a) && isNil(b)
  if (typeof a !== 'object' || typeof b !== 'object') return false
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => equalState(item, b[i]))
  const [left, right] = [a as Members, b as Members]
  for (const key in left) if (!equalState(left[key], ownMember(right, key))) return false
  for (const key in right) if (!Object.hasOwn(left, key) && !isNil(right[key])) return false
  return true
}

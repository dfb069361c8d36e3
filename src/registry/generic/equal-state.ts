/** Thread: pool. Whether two objects say the same, as Kubernetes' semantic equality sees them. */

type Members = Readonly<Record<string, unknown>>

/** A list that is empty is one that is not there; an object without members is not, for it may be a pointer's. */
const isNil = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

export function equalState(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (isNil(a) || isNil(b)) return isNil(a) && isNil(b)
  if (typeof a !== 'object' || typeof b !== 'object') return false
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => equalState(item, b[i]))
  const [left, right] = [a as Members, b as Members]
  for (const key in left) if (!equalState(left[key], right[key])) return false
  for (const key in right) if (!(key in left) && !isNil(right[key])) return false
  return true
}

/** Thread: any. Whether two trees are the same JSON; members that are undefined count as absent. */
import type { Json } from '../../api/object.js'

export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, i) => equalJson(item, b[i]))
  }
  const present = (object: { [key: string]: Json | undefined }): string[] =>
    Object.keys(object).filter((key) => object[key] !== undefined)
  const keys = present(a)
  if (keys.length !== present(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]))
}

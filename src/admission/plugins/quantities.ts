/** Thread: any. Lists of resources and their amounts. */
import { parseQuantity } from '../../api/quantity.js'

export function sameQuantities(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => b[name] !== undefined && parseQuantity(a[name]!).equals(parseQuantity(b[name])))
  )
}

/** Thread: any. Amounts by the name of a resource. */
import { parseQuantity } from '../../api/quantity.js'
import { ownMember } from '../../lib/own-member.js'

export function sameQuantities(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const amount = ownMember(b, name)
      return amount !== undefined && parseQuantity(a[name]!).equals(parseQuantity(amount))
    })
  )
}

/** Thread: any. Amounts of resources by name: summed, and raised to what is larger. */
import { parseQuantity, type Quantity } from './quantity.js'

export type Amounts = Map<string, Quantity>

export function addAmounts(sums: Amounts, list: Readonly<Record<string, string>> | undefined): void {
  for (const [name, text] of Object.entries(list ?? {})) {
    const amount = parseQuantity(text)
    sums.set(name, sums.get(name)?.add(amount) ?? amount)
  }
}

export function raiseAmounts(sums: Amounts, other: ReadonlyMap<string, Quantity>): void {
  for (const [name, amount] of other) {
    const sum = sums.get(name)
    if (sum === undefined || sum.compare(amount) < 0) sums.set(name, amount)
  }
}

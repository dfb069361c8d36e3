/** Thread: any. A ResourceQuota as admission sees it, and amounts by the name of what they count. */
import type { ResourceQuota } from '../../../api/generated/kinds/core.v1.js'
import { parseQuantity, Quantity } from '../../../api/quantity.js'

export type Usage = ReadonlyMap<string, Quantity>

export const ONE = Quantity.ofInteger(1)
export const ZERO = Quantity.ofInteger(0)
export const NO_USAGE: Usage = new Map()

export function addUsage(a: Usage, b: Usage): Map<string, Quantity> {
  const sum = new Map(a)
  for (const [name, amount] of b) sum.set(name, sum.get(name)?.add(amount) ?? amount)
  return sum
}

export const negated = (usage: Usage): Usage => new Map([...usage].map(([name, amount]) => [name, amount.negate()]))

/** The amounts that the quota counts, without those that are zero. */
export const counted = (usage: Usage, hard: Readonly<Record<string, string>>): Usage =>
  new Map([...usage].filter(([name, amount]) => hard[name] !== undefined && amount.sign !== 0))

export const usageOf = (list: Readonly<Record<string, string>>): Map<string, Quantity> =>
  new Map(Object.entries(list).map(([name, text]) => [name, parseQuantity(text)]))

/** Amounts as `cpu=1,memory=1Gi`, ordered by name. */
export const showUsage = (names: readonly string[], amount: (name: string) => string): string =>
  [...names]
    .sort()
    .map((name) => `${name}=${amount(name)}`)
    .join(',')

/** Whether the status counts everything that the spec limits, by the same limits. */
export function isCurrent({ spec, status }: ResourceQuota): boolean {
  const hard = spec?.hard ?? {}
  const names = Object.keys(hard)
  return (
    names.length === Object.keys(status?.hard ?? {}).length &&
    names.every((name) => {
      const known = status?.hard?.[name]
      return (
        known !== undefined &&
        status?.used?.[name] !== undefined &&
        parseQuantity(known).equals(parseQuantity(hard[name]!))
      )
    })
  )
}

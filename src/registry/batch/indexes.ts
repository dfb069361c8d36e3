/** Thread: any. Sets of indexes as jobs write them: 1,3-5,7. */

interface Interval {
  readonly first: number
  readonly last: number
}

const INTEGER = /^[+-]?\d+$/

function parseInterval(text: string, completions: number): Interval | undefined {
  const parts = text.split('-')
  if (parts.length > 2 || !parts.every((part) => INTEGER.test(part))) return undefined
  const [first, last = first] = parts.map(Number) as [number, number?]
  if (first >= completions || last >= completions || (parts.length === 2 && first >= last)) return undefined
  return { first, last }
}

/** How many there are; undefined when the text is no ascending list of indexes below `completions`. */
export function countIndexes(text: string, completions: number): number | undefined {
  if (text === '') return 0
  let total = 0
  let previous = Number.NEGATIVE_INFINITY
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions)
    if (interval === undefined || previous >= interval.first) return undefined
    total += interval.last - interval.first + 1
    previous = interval.last
  }
  return total
}

export function indexesOverlap(a: string, b: string, completions: number): boolean {
  const intervals = (text: string): Interval[] =>
    text === '' ? [] : text.split(',').flatMap((part) => parseInterval(part, completions) ?? [])
  const others = intervals(b)
  return intervals(a).some((x) => others.some((y) => x.first <= y.last && y.first <= x.last))
}

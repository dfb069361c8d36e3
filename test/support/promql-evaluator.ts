/**
 * Evaluates the part of PromQL that our alerts use, on scrapes that were recorded: selectors, rate and increase, absent,
 * histogram_quantile, aggregations by labels, arithmetic and comparisons. Anything else throws, so that no rule is passed over.
 * Rates are not extrapolated to the edges of their window, as Prometheus does: thresholds here are far from both.
 */
import { type Sample, seriesKey } from './exposition.js'
import { tokens } from './promql.js'

export interface Scrape {
  readonly atSeconds: number
  readonly samples: readonly Sample[]
}

interface Element {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}
type Value = number | readonly Element[]
type Expression = (scrapes: readonly Scrape[], atSeconds: number) => Value

/** A sample is shown for so long after its scrape. */
const LOOKBACK_SECONDS = 300

type Matcher = (labels: Readonly<Record<string, string>>) => boolean

interface Selector {
  readonly name: string
  readonly matches: Matcher
  readonly windowSeconds: number | undefined
}

export function seconds(text: string): number {
  const unit = { s: 1, m: 60, h: 3600, d: 86_400 }
  return [...text.matchAll(/(\d+)([smhd])/g)].reduce(
    (sum, [, n, u]) => sum + Number(n) * unit[u as keyof typeof unit],
    0,
  )
}

/** Whether the expression has held for so long at the end of the recording, looked at after every scrape. */
export function fires(expression: string, forText: string, scrapes: readonly Scrape[]): boolean {
  const evaluate = parse(expression)
  let since: number | undefined
  for (const { atSeconds } of scrapes) {
    const value = evaluate(scrapes, atSeconds)
    const holds = typeof value !== 'number' && value.length > 0
    if (!holds) since = undefined
    else since ??= atSeconds
  }
  return since !== undefined && scrapes.at(-1)!.atSeconds - since >= seconds(forText)
}

function series(
  { name, matches }: Selector,
  scrapes: readonly Scrape[],
  from: number,
  to: number,
): Map<string, { labels: Sample['labels']; points: [number, number][] }> {
  const found = new Map<string, { labels: Sample['labels']; points: [number, number][] }>()
  for (const { atSeconds, samples } of scrapes) {
    if (atSeconds <= from || atSeconds > to) continue
    for (const sample of samples) {
      if (sample.name !== name || !matches(sample.labels)) continue
      const key = seriesKey(name, sample.labels)
      const one = found.get(key) ?? { labels: sample.labels, points: [] }
      one.points.push([atSeconds, sample.value])
      found.set(key, one)
    }
  }
  return found
}

const instant =
  (selector: Selector): Expression =>
  (scrapes, at) =>
    [...series(selector, scrapes, at - LOOKBACK_SECONDS, at).values()].map(({ labels, points }) => ({
      labels,
      value: points.at(-1)![1],
    }))

/** How much a counter grew, through its resets; a second of it when asked for the rate. */
const growth =
  (selector: Selector, isRate: boolean): Expression =>
  (scrapes, at) =>
    [...series(selector, scrapes, at - selector.windowSeconds!, at).values()]
      .filter(({ points }) => points.length > 1)
      .map(({ labels, points }) => {
        const grown = points
          .slice(1)
          .reduce((sum, [, value], i) => sum + (value < points[i]![1] ? value : value - points[i]![1]), 0)
        return { labels, value: isRate ? grown / (points.at(-1)![0] - points[0]![0]) : grown }
      })

const vector = (value: Value): readonly Element[] => {
  if (typeof value === 'number') throw new SyntaxError('a number stands where series are wanted')
  return value
}

const AGGREGATES: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  count: (values) => values.length,
}

function grouped(elements: readonly Element[], by: readonly string[]): Map<string, Element[]> {
  const groups = new Map<string, Element[]>()
  for (const { labels, value } of elements) {
    const kept = Object.fromEntries(by.filter((label) => label in labels).map((label) => [label, labels[label]!]))
    const key = seriesKey('', kept)
    groups.set(key, [...(groups.get(key) ?? []), { labels: kept, value }])
  }
  return groups
}

function quantile(q: number, elements: readonly Element[]): Element[] {
  const without = elements.map(({ labels: { le, ...labels }, value }) => ({
    le: le === '+Inf' ? Infinity : Number(le),
    labels,
    value,
  }))
  const keys = new Map<string, typeof without>()
  for (const one of without) keys.set(seriesKey('', one.labels), [...(keys.get(seriesKey('', one.labels)) ?? []), one])
  return [...keys.values()].flatMap((unsorted) => {
    const buckets = unsorted.sort((a, b) => a.le - b.le)
    const total = buckets.at(-1)!.value
    if (total === 0) return []
    const wanted = q * total
    const i = buckets.findIndex(({ value }) => value >= wanted)
    const [low, below] = i === 0 ? [0, 0] : [buckets[i - 1]!.le, buckets[i - 1]!.value]
    const { le, value, labels } = buckets[i]!
    if (le === Infinity) return [{ labels, value: low }]
    return [{ labels, value: low + ((le - low) * (wanted - below)) / (value - below || 1) }]
  })
}

const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
}
const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
}

function combine(sign: string, left: Value, right: Value): Value {
  const calculate = ARITHMETIC[sign]
  const compare = COMPARISONS[sign]
  const one = (a: number, b: number): number | undefined =>
    calculate === undefined ? (compare!(a, b) ? a : undefined) : calculate(a, b)
  if (typeof left === 'number' && typeof right === 'number') return one(left, right) ?? []
  if (typeof left === 'number') throw new SyntaxError(`a number before ${sign} is not known here`)
  return left.flatMap(({ labels, value }) => {
    const other =
      typeof right === 'number'
        ? right
        : right.find((two) => seriesKey('', two.labels) === seriesKey('', labels))?.value
    const result = other === undefined ? undefined : one(value, other)
    return result === undefined || Number.isNaN(result) ? [] : [{ labels, value: result }]
  })
}

const PRECEDENCE: readonly (readonly string[])[] = [Object.keys(COMPARISONS), ['+', '-'], ['*', '/']]

/** Throws SyntaxError at what it does not know. */
export function parse(text: string): Expression {
  const reader = new TokenReader(text)
  const expression = either(reader)
  reader.end()
  return expression
}

class TokenReader {
  readonly #tokens: ReturnType<typeof tokens>
  readonly #text: string
  #next = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = tokens(text)
  }

  get kind(): string {
    return this.#tokens[this.#next]?.kind ?? 'end'
  }

  take(...words: readonly string[]): string | undefined {
    const token = this.#tokens[this.#next]
    if (token === undefined || token.kind === 'text' || !words.includes(token.text)) return undefined
    this.#next++
    return token.text
  }

  of(kind: string): string {
    if (this.kind !== kind) throw new SyntaxError(`a ${kind} wanted, not ${this.kind}, in ${this.#text}`)
    return this.#tokens[this.#next++]!.text
  }

  expect(word: string): void {
    if (this.take(word) === undefined) throw new SyntaxError(`${word} wanted in ${this.#text}`)
  }

  end(): void {
    if (this.kind !== 'end')
      throw new SyntaxError(`${this.#tokens[this.#next]!.text} is not known here, in ${this.#text}`)
  }
}

/** `or`: all of the first, and of the second what has no twin of the same labels there. */
function either(reader: TokenReader): Expression {
  const left = binary(reader, 0)
  if (reader.take('or') === undefined) return left
  const right = either(reader)
  return (scrapes, at) => {
    const first = vector(left(scrapes, at))
    const keys = new Set(first.map(({ labels }) => seriesKey('', labels)))
    return [...first, ...vector(right(scrapes, at)).filter(({ labels }) => !keys.has(seriesKey('', labels)))]
  }
}

function binary(reader: TokenReader, level: number): Expression {
  if (level === PRECEDENCE.length) return primary(reader)
  let left = binary(reader, level + 1)
  for (let sign = reader.take(...PRECEDENCE[level]!); sign !== undefined; sign = reader.take(...PRECEDENCE[level]!)) {
    const [before, done, right] = [left, sign, binary(reader, level + 1)]
    left = (scrapes, at) => combine(done, before(scrapes, at), right(scrapes, at))
  }
  return left
}

function primary(reader: TokenReader): Expression {
  if (reader.kind === 'number') {
    const value = Number(reader.of('number'))
    return () => value
  }
  if (reader.take('(') !== undefined) {
    const inner = binary(reader, 0)
    reader.expect(')')
    return inner
  }
  const name = reader.of('name')
  if (name in AGGREGATES) return aggregate(reader, name)
  if (reader.take('(') === undefined) return instant(selector(reader, name))
  const call = called(reader, name)
  reader.expect(')')
  return call
}

function called(reader: TokenReader, name: string): Expression {
  if (name === 'rate' || name === 'increase') return growth(selector(reader, reader.of('name'), true), name === 'rate')
  const first = binary(reader, 0)
  if (name === 'absent')
    return (scrapes, at) => (vector(first(scrapes, at)).length === 0 ? [{ labels: {}, value: 1 }] : [])
  if (name !== 'histogram_quantile') throw new SyntaxError(`${name} is not known here`)
  reader.expect(',')
  const second = binary(reader, 0)
  return (scrapes, at) => quantile(first(scrapes, at) as number, vector(second(scrapes, at)))
}

function aggregate(reader: TokenReader, name: string): Expression {
  const by: string[] = []
  const clause = (): void => {
    if (reader.take('by') === undefined) return
    reader.expect('(')
    do by.push(reader.of('name'))
    while (reader.take(',') !== undefined)
    reader.expect(')')
  }
  clause()
  reader.expect('(')
  const inner = binary(reader, 0)
  reader.expect(')')
  clause()
  return (scrapes, at) =>
    [...grouped(vector(inner(scrapes, at)), by).values()].map((elements) => ({
      labels: elements[0]!.labels,
      value: AGGREGATES[name]!(elements.map(({ value }) => value)),
    }))
}

function selector(reader: TokenReader, name: string, hasWindow = false): Selector {
  const matchers: Matcher[] = []
  if (reader.take('{') !== undefined)
    while (reader.take('}') === undefined) {
      const label = reader.of('name')
      const sign = reader.take('=', '!=', '=~', '!~')
      const wanted = reader.of('text').slice(1, -1)
      const pattern = new RegExp(`^(?:${sign?.endsWith('~') === true ? wanted : wanted.replace(/[^\w]/g, '\\$&')})$`)
      matchers.push((labels) => pattern.test(labels[label] ?? '') === !sign?.startsWith('!'))
      reader.take(',')
    }
  let windowSeconds: number | undefined
  if (hasWindow) {
    reader.expect('[')
    windowSeconds = seconds(reader.of('duration'))
    reader.expect(']')
  }
  return { name, matches: (labels) => matchers.every((matches) => matches(labels)), windowSeconds }
}

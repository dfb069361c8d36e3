/** The text of /metrics, read as strictly as Prometheus may: whatever is not allowed throws, naming the line. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface MetricFamily {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: Sample[]
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/
const TYPES = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped'])
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|NaN|Nan|[+-]?Inf)$/

export class Exposition {
  readonly families = new Map<string, MetricFamily>()

  constructor(text: string) {
    if (!text.endsWith('\n')) throw new Error('the last line has no end')
    const seen = new Set<string>()
    let current: MetricFamily | undefined
    let help: { readonly name: string; readonly text: string } | undefined
    for (const line of text.slice(0, -1).split('\n')) {
      if (line === '') continue
      if (line.startsWith('# HELP ')) {
        const [name, said] = split(line.slice(7))
        if (this.families.has(name) || help !== undefined) throw new Error(`help in the wrong place: ${line}`)
        help = { name, text: said }
      } else if (line.startsWith('# TYPE ')) {
        const [name, type] = split(line.slice(7))
        if (!NAME.test(name) || !TYPES.has(type) || this.families.has(name)) throw new Error(`a wrong type: ${line}`)
        if (help?.name !== name) throw new Error(`no help before: ${line}`)
        current = { name, type, help: help.text, samples: [] }
        help = undefined
        this.families.set(name, current)
      } else if (line.startsWith('#')) throw new Error(`a comment that is none: ${line}`)
      else {
        const sample = parseSample(line)
        if (current === undefined || help !== undefined || !belongs(sample, current))
          throw new Error(`a sample before its type, or away from it: ${line}`)
        const key = seriesKey(sample.name, sample.labels)
        if (seen.has(key)) throw new Error(`a series stands there twice: ${line}`)
        seen.add(key)
        current.samples.push(sample)
      }
    }
    for (const family of this.families.values()) if (family.type === 'histogram') checkHistogram(family)
    for (const { type, name, samples } of this.families.values())
      if (type === 'counter' && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} is below 0`)
  }

  samples(name: string, labels: Readonly<Record<string, string>> = {}): Sample[] {
    const family = this.families.get(name) ?? this.families.get(name.replace(/_(?:bucket|sum|count)$/, ''))
    return (family?.samples ?? []).filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )
  }

  /** The sum of all series with these labels, 0 when there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.samples(name, labels).reduce((sum, { value }) => sum + value, 0)
  }
}

export const seriesKey = (name: string, labels: Readonly<Record<string, string>>): string =>
  `${name}${JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))}`

function split(text: string): [string, string] {
  const at = text.indexOf(' ')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

const belongs = ({ name }: Sample, family: MetricFamily): boolean =>
  family.type === 'histogram' || family.type === 'summary'
    ? [`${family.name}_bucket`, `${family.name}_sum`, `${family.name}_count`, family.name].includes(name)
    : name === family.name

function parseSample(line: string): Sample {
  const brace = line.indexOf('{')
  const labels: Record<string, string> = {}
  let name: string
  let rest: string
  if (brace < 0) [name, rest] = split(line)
  else {
    name = line.slice(0, brace)
    let at = brace + 1
    while (line[at] !== '}') {
      const equals = line.indexOf('="', at)
      const label = line.slice(at, equals)
      if (equals < 0 || !LABEL.test(label) || label in labels) throw new Error(`a wrong label: ${line}`)
      const [value, end] = quoted(line, equals + 2)
      labels[label] = value
      at = end
      if (line[at] === ',') at++
      else if (line[at] !== '}') throw new Error(`labels without a comma: ${line}`)
    }
    if (line[at + 1] !== ' ') throw new Error(`no space before the value: ${line}`)
    rest = line.slice(at + 2)
  }
  if (!NAME.test(name) || !NUMBER.test(rest)) throw new Error(`not a sample: ${line}`)
  return { name, labels, value: rest.endsWith('Inf') ? (rest.startsWith('-') ? -Infinity : Infinity) : Number(rest) }
}

function quoted(line: string, start: number): [string, number] {
  let value = ''
  for (let at = start; at < line.length; at++) {
    if (line[at] === '"') return [value, at + 1]
    if (line[at] !== '\\') {
      value += line[at]
      continue
    }
    const escaped = { '\\': '\\', n: '\n', '"': '"' }[line[++at] ?? '']
    if (escaped === undefined) throw new Error(`a wrong escape: ${line}`)
    value += escaped
  }
  throw new Error(`a label without an end: ${line}`)
}

function checkHistogram({ name, samples }: MetricFamily): void {
  const buckets = new Map<string, { le: number; value: number }[]>()
  const counts = new Map<string, number>()
  const sums = new Set<string>()
  for (const sample of samples) {
    const { le, ...labels } = sample.labels
    const key = seriesKey(name, labels)
    if (sample.name === `${name}_count`) counts.set(key, sample.value)
    else if (sample.name === `${name}_sum`) sums.add(key)
    else if (sample.name === `${name}_bucket` && le !== undefined) {
      const bound = le === '+Inf' ? Infinity : Number(le)
      buckets.set(key, [...(buckets.get(key) ?? []), { le: bound, value: sample.value }])
    } else throw new Error(`${sample.name} has no place in a histogram`)
  }
  if (buckets.size !== counts.size || buckets.size !== sums.size) throw new Error(`${name} is not whole`)
  for (const [key, series] of buckets) {
    for (const [i, { le, value }] of series.entries()) {
      const before = series[i - 1]
      if (before !== undefined && (before.le >= le || before.value > value)) throw new Error(`${key} does not ascend`)
    }
    const last = series.at(-1)!
    if (last.le !== Infinity || last.value !== counts.get(key)) throw new Error(`${key} does not end with its count`)
  }
}

/** Results as text for a terminal, and numbers as people read them. */
import { type Results, type Row, SCENARIOS, type TargetName } from './results.js'

export const TARGET_NAMES: Readonly<Record<TargetName, string>> = {
  keelson: 'Keelson, embedded',
  'keelson-etcd': 'Keelson on etcd',
  bare: 'uWebSockets.js alone',
  peer: 'the other server',
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en-US')
/** Three digits that mean something. */
export const short = (value: number): string => (value >= 100 ? whole(value) : String(Number(value.toPrecision(3))))

export function show({ value, unit }: { readonly value: number; readonly unit: Row['unit'] | 'us' }): string {
  if (unit === 'bytes') return `${short(value / 1e6)} MB`
  if (unit === 'us') return `${short(value)} µs`
  if (unit === 'count') return short(value)
  return unit === 'ms' ? `${short(value)} ms` : `${short(value)}/s`
}

export function table({ machine, generator, rows }: Results): string {
  const cells = rows.map((row) => [
    SCENARIOS[row.scenario],
    whole(row.size),
    TARGET_NAMES[row.target],
    show(row),
    row.p99Ms === undefined ? '' : `${short(row.p99Ms)} ms`,
    row.processorMicroseconds === undefined ? '' : `${short(row.processorMicroseconds)} µs`,
  ])
  const lines = [['work', 'pods', 'server', 'measured', 'p99', 'processor, each'], ...cells]
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)))
  const print = (line: readonly string[]): string =>
    line.map((cell, i) => (i === 0 || i === 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')
  return [`${machine}, ${generator}`, '', ...lines.map(print)].join('\n')
}

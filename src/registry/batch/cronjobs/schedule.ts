/** Thread: any. Cron schedules: whether they can be understood. */
import { parseDurationMs } from '../../../api/duration.js'
import { isTimeZone } from './time-zone.js'

const names = (text: string, from: number): ReadonlyMap<string, number> =>
  new Map(text.split(' ').map((name, i) => [name, from + i]))

interface Field {
  readonly least: number
  readonly most: number
  readonly names?: ReadonlyMap<string, number>
}

const FIELDS: readonly Field[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: names('jan feb mar apr may jun jul aug sep oct nov dec', 1) },
  { least: 0, most: 6, names: names('sun mon tue wed thu fri sat', 0) },
]
const DESCRIPTORS: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
])
const EVERY = '@every '

/** Minute, hour, day, month and weekday; a name such as @daily; `@every 1h30m`; each after an optional `TZ=zone `. */
export function isSchedule(text: string): boolean {
  if (!/^(CRON_)?TZ=/.test(text)) return isPlainSchedule(text)
  const space = text.indexOf(' ')
  return space > 0 && isTimeZone(text.slice(text.indexOf('=') + 1, space)) && isPlainSchedule(text.slice(space).trim())
}

function isPlainSchedule(text: string): boolean {
  if (text.startsWith('@')) return isDescriptor(text)
  const parts = text.split(/\s+/).filter((part) => part !== '')
  return parts.length === FIELDS.length && parts.every((part, i) => isField(part, FIELDS[i]!))
}

function isDescriptor(text: string): boolean {
  if (DESCRIPTORS.has(text)) return true
  return text.startsWith(EVERY) && parseDurationMs(text.slice(EVERY.length)) !== undefined
}

const isField = (text: string, field: Field): boolean => {
  const ranges = text.split(',').filter((range) => range !== '')
  return ranges.every((range) => isRange(range, field))
}

const COUNT = /^\+?\d+$/

/** 5, 1-5, a star, each with a step: 1-5/2. What follows a star and a dash is not looked at. */
function isRange(text: string, { least, most, names: words }: Field): boolean {
  const [range = '', step, ...more] = text.split('/')
  if (more.length > 0 || (step !== undefined && !(COUNT.test(step) && Number(step) > 0))) return false
  const [low = '', high, ...rest] = range.split('-')
  if (low === '*' || low === '?') return true
  const number = (word: string): number | undefined =>
    words?.get(word.toLowerCase()) ?? (COUNT.test(word) ? Number(word) : undefined)
  const start = number(low)
  const end = high === undefined ? (step === undefined ? start : most) : number(high)
  return rest.length === 0 && start !== undefined && end !== undefined && start >= least && end <= most && start <= end
}

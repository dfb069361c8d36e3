/** Thread: any. How far clocks of a time zone are ahead of UTC at a moment, by the zone's name in the tz database. */

/** Names as the tz database has them; no offsets, which newer versions of Intl take for names too. */
const NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/
/** Formats that are kept: making one takes as long as some hundred uses of it. */
const MAX_FORMATS = 32

class ZoneFormats {
  readonly #formats = new Map<string, Intl.DateTimeFormat>()

  /** Undefined when there is no such zone. */
  of(zone: string): Intl.DateTimeFormat | undefined {
    const known = this.#formats.get(zone)
    if (known !== undefined) return known
    const made = NAME.test(zone) ? formatOf(zone) : undefined
    if (made === undefined) return undefined
    if (this.#formats.size >= MAX_FORMATS) this.#formats.delete(this.#formats.keys().next().value!)
    this.#formats.set(zone, made)
    return made
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const FORMATS = new ZoneFormats()

/** In seconds; undefined when there is no such zone. Servers run in UTC: that is what `Local` means. */
export function zoneOffset(zone: string, seconds: number): number | undefined {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return 0
  const format = FORMATS.of(zone)
  if (format === undefined) return undefined
  const parts = new Map(format.formatToParts(seconds * 1000).map(({ type, value }) => [type, Number(value)]))
  const shown = new Date(0)
  shown.setUTCFullYear(parts.get('year')!, parts.get('month')! - 1, parts.get('day')!)
  shown.setUTCHours(parts.get('hour')!, parts.get('minute')!, parts.get('second')!)
  return shown.getTime() / 1000 - seconds
}

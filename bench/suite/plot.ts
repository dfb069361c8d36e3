/** Bars in groups as SVG: a group for each size, a bar for each server. Logarithmic, because sizes differ by thousands. */
export interface Plot {
  readonly title: string
  readonly unit: string
  readonly groups: readonly string[]
  readonly series: readonly { readonly name: string; readonly values: readonly (number | undefined)[] }[]
}

const COLOURS = ['#2563eb', '#0f9d76', '#9ca3af', '#d97706']
const WIDTH = 720
const HEIGHT = 320
const LEFT = 64
const TOP = 56
const BOTTOM = 36

const label = (value: number): string => {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`
  if (value >= 1e3) return `${Number((value / 1e3).toPrecision(3))}k`
  return String(Number(value.toPrecision(3)))
}
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

export function plotSvg({ title, unit, groups, series }: Plot): string {
  const values = series.flatMap((one) => one.values).filter((value) => value !== undefined && value > 0) as number[]
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  const height = HEIGHT - TOP - BOTTOM
  const y = (value: number): number => TOP + height * (1 - (Math.log10(value) - low) / (high - low))
  const groupWidth = (WIDTH - LEFT - 16) / groups.length
  const barWidth = Math.min(56, (groupWidth * 0.8) / series.length)
  const parts: string[] = []
  for (let power = low; power <= high; power++) {
    const at = y(10 ** power).toFixed(1)
    parts.push(`<line x1="${LEFT}" x2="${WIDTH - 16}" y1="${at}" y2="${at}" stroke="#e5e7eb"/>`)
    parts.push(`<text x="${LEFT - 8}" y="${at}" dy="4" text-anchor="end">${label(10 ** power)}</text>`)
  }
  for (const [g, group] of groups.entries()) {
    const middle = LEFT + groupWidth * (g + 0.5)
    parts.push(`<text x="${middle.toFixed(1)}" y="${HEIGHT - 12}" text-anchor="middle">${escaped(group)}</text>`)
    for (const [s, { values: all }] of series.entries()) {
      const value = all[g]
      if (value === undefined || value <= 0) continue
      const x = middle + (s - series.length / 2) * barWidth
      const top = y(value)
      parts.push(
        `<rect x="${(x + 1).toFixed(1)}" y="${top.toFixed(1)}" width="${(barWidth - 2).toFixed(1)}" height="${Math.max(1, TOP + height - top).toFixed(1)}" fill="${COLOURS[s % COLOURS.length]}"/>`,
        `<text x="${(x + barWidth / 2).toFixed(1)}" y="${(top - 4).toFixed(1)}" text-anchor="middle" font-size="10">${label(value)}</text>`,
      )
    }
  }
  let x = LEFT
  for (const [s, { name }] of series.entries()) {
    parts.push(`<rect x="${x}" y="30" width="10" height="10" fill="${COLOURS[s % COLOURS.length]}"/>`)
    parts.push(`<text x="${x + 14}" y="39">${escaped(name)}</text>`)
    x += 14 + name.length * 6.6 + 18
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="#111827" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="20" font-size="14" font-weight="600">${escaped(title)} (${escaped(unit)})</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

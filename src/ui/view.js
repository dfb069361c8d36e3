/** Small pieces of the page. Text goes in as text, never as markup. */
export function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** Fills a table; a title that starts with # is a column of numbers. */
export function cells(id, titles, rows) {
  const numbers = titles.map((title) => title.startsWith('#'))
  const cell = (tag) => (content, i) =>
    element(tag, { className: numbers[i] ? 'number' : '' }, content instanceof Node ? content : String(content))
  const head = element(
    'thead',
    {},
    element('tr', {}, ...titles.map((title) => title.replace(/^#/, '')).map(cell('th'))),
  )
  const body = element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map(cell('td')))))
  document.getElementById(id).replaceChildren(head, body)
}

export function sparkline(values, width) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', `0 0 ${width - 1} 28`)
  svg.setAttribute('preserveAspectRatio', 'none')
  const highest = Math.max(...values, 1e-9)
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline')
  const points = values.map((value, i) => `${width - values.length + i},${27 - (value / highest) * 26}`)
  line.setAttribute('points', points.join(' '))
  svg.append(line)
  return svg
}

export const rate = (value) => `${value >= 100 ? Math.round(value) : value.toFixed(1)}/s`

export function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB']
  let unit = 0
  let left = value
  while (left >= 1024 && unit < units.length - 1) {
    left /= 1024
    unit++
  }
  return `${unit === 0 ? left : left.toFixed(1)} ${units[unit]}`
}

export function seconds(value) {
  if (value === undefined) return ''
  return value < 1 ? `${(value * 1000).toFixed(1)} ms` : `${value.toFixed(2)} s`
}

/** Small pieces of the page. Text goes in as text, never as markup. */
export function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** Fills a table; a title that starts with # is a column of numbers. `onRow(tr, i)` may add to a row. */
export function cells(id, titles, rows, onRow) {
  const numbers = titles.map((title) => title.startsWith('#'))
  const cell = (tag) => (content, i) => {
    const text = content instanceof Node ? content : String(content)
    const made = element(tag, { className: numbers[i] ? 'number' : '' }, text)
    if (tag === 'td' && !numbers[i]) made.title = made.textContent
    return made
  }
  const head = element(
    'thead',
    {},
    element('tr', {}, ...titles.map((title) => title.replace(/^#/, '')).map(cell('th'))),
  )
  const body = element(
    'tbody',
    {},
    ...rows.map((row, i) => {
      const made = element('tr', {}, ...row.map(cell('td')))
      onRow?.(made, i)
      return made
    }),
  )
  const empty = titles.every((title) => title.replace('#', '') === '')
  document.getElementById(id).replaceChildren(...(empty ? [body] : [head, body]))
}

export const rate = (value) => `${value >= 100 ? Math.round(value) : value.toFixed(1)}/s`

export const count = (value) => value.toLocaleString('en')

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
  if (value === undefined) return '–'
  return value < 1 ? `${(value * 1000).toFixed(1)} ms` : `${value.toFixed(2)} s`
}

export function duration(value) {
  const minutes = Math.floor(value / 60)
  if (minutes < 1) return `${Math.floor(value)} s`
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`
}

/** A share as a number with a bar beside it. */
export function share(value) {
  const shown = Math.max(0, Math.min(1, value))
  return element('span', {}, `${Math.round(value * 100)} %`, element('meter', { max: 1, high: 0.8, value: shown }))
}

/** Lines over time, newest at the right edge. A value of undefined is a gap. */
import { element } from './view.js'

const SVG = 'http://www.w3.org/2000/svg'
const HEIGHT = 100

function node(name, attributes) {
  const made = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  return made
}

function canvas(width) {
  return node('svg', { viewBox: `0 0 ${width - 1} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' })
}

/** Stretches of values that follow each other, as points. */
function stretches(values, width, highest) {
  const found = [[]]
  values.forEach((value, i) => {
    if (value === undefined) found.push([])
    else found.at(-1).push([width - values.length + i, HEIGHT - 2 - (value / highest) * (HEIGHT - 6)])
  })
  return found.filter((points) => points.length > 0)
}

const text = (points) => points.map((point) => point.join(',')).join(' ')

function draw(svg, values, width, highest, { filled, className = '' }) {
  for (const points of stretches(values, width, highest)) {
    // A single point has no length; it is drawn as a short stroke.
    const line = points.length > 1 ? points : [[points[0][0] - 1, points[0][1]], points[0]]
    if (filled) svg.append(node('polygon', { points: text([[line[0][0], HEIGHT], ...line, [line.at(-1)[0], HEIGHT]]) }))
    svg.append(node('polyline', { points: text(line), class: className }))
  }
}

export function sparkline(values, width) {
  const svg = canvas(width)
  draw(svg, values, width, Math.max(...values, 1e-9) * 1.1, { filled: true })
  return svg
}

/** `lines`: up to two, { title, values }; `least`: the scale reaches so high at least. It is written at the top, what is newest below. */
export function chart(id, lines, { width, periodSeconds, format, least = 1e-9 }) {
  const highest = Math.max(least, ...lines.flatMap(({ values }) => values.filter((value) => value !== undefined)))
  const svg = canvas(width)
  for (const y of [4, HEIGHT / 2, HEIGHT - 1]) svg.append(node('line', { x1: 0, x2: width - 1, y1: y, y2: y }))
  const names = ['first', 'second']
  lines.forEach(({ values }, i) => {
    draw(svg, values, width, highest, { filled: lines.length === 1, className: names[i] })
  })
  const legend = lines.map(({ title, values }, i) =>
    element('span', { className: names[i] }, `${title} ${format(values.at(-1))}`),
  )
  const span = element('span', {}, `last ${Math.round((width * periodSeconds) / 60)} min`)
  const top = element('span', { className: 'top' }, highest > 1e-9 ? format(highest) : '')
  document.getElementById(id).replaceChildren(svg, top, element('div', { className: 'legend' }, ...legend, span))
}

/** The text of /metrics as numbers: [{ name, labels, value }]. */
export function parseMetrics(text) {
  const samples = []
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const brace = line.indexOf('{')
    const space = line.lastIndexOf(' ')
    const name = line.slice(0, brace < 0 ? space : brace)
    const labels = {}
    if (brace >= 0)
      for (const [, label, value] of line
        .slice(brace + 1, line.lastIndexOf('}'))
        .matchAll(/,?([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/gy))
        labels[label] = value.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c))
    samples.push({ name, labels, value: Number(line.slice(space + 1)) })
  }
  return samples
}

/** Sums of the samples of a name, by one label ('' when there is none to sum by). */
export function sumBy(samples, name, label) {
  const sums = new Map()
  for (const sample of samples) {
    if (sample.name !== name) continue
    const key = label === undefined ? '' : (sample.labels[label] ?? '')
    sums.set(key, (sums.get(key) ?? 0) + sample.value)
  }
  return sums
}

/** How much a sum grew between two scrapes; a server that was restarted starts from nothing. */
export function growth(before, now) {
  const grown = new Map()
  for (const [key, value] of now) {
    const last = before.get(key) ?? 0
    grown.set(key, value >= last ? value - last : value)
  }
  return grown
}

/** A quantile out of what histogram buckets grew by: [[upper bound, count up to it], …]. */
export function quantile(q, buckets) {
  const sorted = [...buckets].sort((a, b) => a[0] - b[0])
  const total = sorted.at(-1)?.[1] ?? 0
  if (total === 0) return undefined
  const rank = q * total
  let [lower, below] = [0, 0]
  for (const [bound, count] of sorted) {
    if (count >= rank) {
      if (bound === Number.POSITIVE_INFINITY) return lower
      return lower + ((bound - lower) * (rank - below)) / Math.max(1, count - below)
    }
    lower = bound
    below = count
  }
  return lower
}

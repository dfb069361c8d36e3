/** Live figures, from /metrics every two seconds. Only what changed between two scrapes is shown as a rate. */
import { ApiError } from './api.js'
import { chart, sparkline } from './charts.js'
import { growth, parseMetrics, quantile, sumBy } from './metrics-text.js'
import { bytes, cells, count, duration, element, rate, seconds, share } from './view.js'

const PERIOD_MS = 2000
const POINTS = 60
/** Ten seconds. */
const PROCESSOR_SCRAPES = 6
/** The bound of the first bucket: what is below it is not known any better. */
const SHORTEST = 0.005
const DURATIONS = 'apiserver_request_duration_seconds_bucket'

export class Overview {
  #api
  #timer
  #last
  #history = new Map()
  #withEmpty = false
  #clocks = []

  constructor(api) {
    this.#api = api
    document.getElementById('empty-resources').onclick = () => {
      this.#withEmpty = !this.#withEmpty
      if (this.#last !== undefined) this.#resources(this.#last.samples)
    }
  }

  start() {
    if (this.#timer === undefined) void this.#look()
  }

  stop() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#last = undefined
    this.#clocks = []
  }

  async #look() {
    this.#timer = setTimeout(() => this.#look(), PERIOD_MS)
    const problem = document.getElementById('metrics-error')
    const figures = document.getElementById('figures')
    try {
      const samples = parseMetrics(await this.#api.text('/metrics'))
      const now = { atMs: performance.now(), samples }
      if (this.#timer === undefined) return
      this.#show(now, this.#last)
      this.#last = now
      problem.textContent = ''
      figures.hidden = false
      figures.classList.remove('old')
    } catch (error) {
      this.#last = undefined
      figures.classList.add('old')
      figures.hidden = this.#history.size === 0
      if (!(error instanceof ApiError)) return // the page says that nobody answers
      problem.textContent =
        error.status === 403
          ? 'You may not read /metrics; the overview needs a role with the non-resource URL /metrics. Objects that you may read are under Objects.'
          : `The figures cannot be had: ${error.message}`
    }
  }

  #show(now, last) {
    const elapsed = last === undefined ? undefined : (now.atMs - last.atMs) / 1000
    const total = (map) => [...map.values()].reduce((a, b) => a + b, 0)
    const gauge = (name) => total(sumBy(now.samples, name))
    const perSecond = (name) =>
      elapsed === undefined ? 0 : total(growth(sumBy(last.samples, name), sumBy(now.samples, name))) / elapsed
    const started = gauge('process_start_time_seconds')
    this.#tiles([
      ['Watchers', gauge('keelson_watchers'), count],
      ['Events sent', perSecond('apiserver_watch_events_total'), rate],
      ['Under way', gauge('apiserver_current_inflight_requests'), count],
      ['Objects', gauge('keelson_cache_objects'), count],
      ['Shared memory', usedBytes(now.samples), bytes],
      ['Process memory', gauge('process_resident_memory_bytes'), bytes],
      ['Running for', Date.now() / 1000 - started, duration, 'plain'],
    ])
    this.#requests(now, last, elapsed)
    this.#threads(now)
    this.#storage(now.samples)
    this.#resources(now.samples)
  }

  #remember(title, value) {
    const history = this.#history.get(title) ?? []
    history.push(value)
    if (history.length > POINTS) history.shift()
    this.#history.set(title, history)
    return history
  }

  #tiles(figures) {
    const tiles = figures.map(([title, value, format, plain]) => {
      const tile = element('div', { className: 'tile' }, title, element('b', {}, format(value)))
      if (plain === undefined) tile.append(sparkline(this.#remember(title, value), POINTS))
      return tile
    })
    document.getElementById('tiles').replaceChildren(...tiles)
  }

  #requests(now, last, elapsed) {
    if (elapsed === undefined) return
    const byVerb = bucketsByVerb(last.samples, now.samples)
    const errors = growth(failures(last.samples), failures(now.samples))
    const rows = [...byVerb]
      .map(([verb, buckets]) => [
        verb,
        rate(most(buckets) / elapsed),
        latency(quantile(0.5, buckets)),
        latency(quantile(0.99, buckets)),
        rate((errors.get(verb) ?? 0) / elapsed),
      ])
      .sort()
    cells('verbs', ['Verb', '#Rate', '#p50', '#p99', '#Failed'], rows)
    const all = new Map()
    for (const buckets of byVerb.values()) for (const [bound, n] of buckets) all.set(bound, (all.get(bound) ?? 0) + n)
    const options = { width: POINTS, periodSeconds: PERIOD_MS / 1000 }
    const rates = this.#remember('rate', most([...all]) / elapsed)
    chart('rate-chart', [{ title: 'now', values: rates }], { ...options, format: (value) => rate(value ?? 0) })
    const lines = [0.5, 0.99].map((q) => ({
      title: `p${q * 100}`,
      values: this.#remember(`p${q}`, quantile(q, [...all])),
    }))
    chart('latency-chart', lines, { ...options, format: latency, least: 2 * SHORTEST })
  }

  /** [seconds, what each thread used in them]: threads look at their clocks every five seconds, so two scrapes are too near. */
  #processor({ atMs, samples }) {
    const used = sumBy(samples, 'keelson_thread_cpu_seconds_total', 'thread')
    this.#clocks.push({ atMs, used })
    while (this.#clocks.length > PROCESSOR_SCRAPES) this.#clocks.shift()
    const [first] = this.#clocks
    return this.#clocks.length < PROCESSOR_SCRAPES
      ? [undefined, new Map()]
      : [(atMs - first.atMs) / 1000, growth(first.used, used)]
  }

  #threads(now) {
    const busy = sumBy(now.samples, 'keelson_event_loop_utilization', 'thread')
    const heap = new Map()
    for (const { name, labels, value } of now.samples)
      if (name === 'keelson_thread_heap_bytes' && labels.kind === 'used') heap.set(labels.thread, value)
    const [since, used] = this.#processor(now)
    const rows = [...busy].map(([thread, part]) => [
      thread,
      share(part),
      since === undefined ? '–' : share((used.get(thread) ?? 0) / since),
      bytes(heap.get(thread) ?? 0),
    ])
    cells('threads', ['Thread', '#Event loop', '#Processor', '#Heap'], rows)
  }

  #storage(samples) {
    const rows = []
    // Of the embedded engine's folder the name is enough; an etcd server is known by its address.
    for (const [endpoint, size] of sumBy(samples, 'apiserver_storage_db_total_size_in_bytes', 'endpoint'))
      rows.push([`Size of ${endpoint.startsWith('/') ? endpoint.split('/').at(-1) : endpoint}`, bytes(size)])
    const done = [...sumBy(samples, 'keelson_compactions_total', 'result')]
    rows.push(['Compactions', done.map(([result, n]) => `${count(n)} ${result}`).join(', ') || 'none yet'])
    for (const [, revision] of sumBy(samples, 'keelson_compact_revision'))
      rows.push(['Compacted up to revision', count(revision)])
    cells('storage', ['', '#'], rows)
  }

  #resources(samples) {
    const by = new Map()
    const at = ({ group, resource }) => {
      const name = group === '' ? resource : `${resource}.${group}`
      if (!by.has(name)) by.set(name, { group, resource, objects: 0, used: 0, watchers: 0 })
      return by.get(name)
    }
    for (const { name, labels, value } of samples) {
      if (name === 'keelson_cache_objects') at(labels).objects += value
      if (name === 'keelson_cache_memory_bytes' && labels.kind === 'used') at(labels).used += value
      if (name === 'keelson_watchers') at(labels).watchers += value
    }
    const sorted = [...by].sort(([a, x], [b, y]) => y.used - x.used || (a < b ? -1 : 1))
    const shown = sorted.filter(([, { objects, watchers }]) => this.#withEmpty || objects > 0 || watchers > 0)
    const rows = shown.map(([name, { group, resource, objects, used, watchers }]) => [
      element('a', { href: `#objects/${group || 'core'}/${resource}` }, name),
      count(objects),
      bytes(used),
      count(watchers),
    ])
    cells('resources', ['Resource', '#Objects', '#Memory', '#Watchers'], rows)
    const button = document.getElementById('empty-resources')
    const empty = sorted.filter(([, { objects, watchers }]) => objects === 0 && watchers === 0).length
    button.hidden = empty === 0
    button.textContent = this.#withEmpty ? 'Hide those without objects' : `Show ${empty} without objects`
  }
}

const latency = (value) => (value <= SHORTEST ? `< ${seconds(SHORTEST)}` : seconds(value))

const most = (buckets) => Math.max(0, ...buckets.map(([, n]) => n))

/** What was counted between two scrapes: verb to [[upper bound, count up to it], …]. Watches last as long as they last. */
function bucketsByVerb(before, after) {
  const sums = (samples) => {
    const found = new Map()
    for (const { name, labels, value } of samples) {
      if (name !== DURATIONS || labels.verb === 'WATCH') continue
      const key = `${labels.verb}\0${labels.le}`
      found.set(key, (found.get(key) ?? 0) + value)
    }
    return found
  }
  const byVerb = new Map()
  for (const [key, grown] of growth(sums(before), sums(after))) {
    const [verb, le] = key.split('\0')
    if (!byVerb.has(verb)) byVerb.set(verb, [])
    byVerb.get(verb).push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), grown])
  }
  return byVerb
}

/** Answers that are the server's fault, by verb. */
function failures(samples) {
  const found = new Map()
  for (const { name, labels, value } of samples)
    if (name === 'apiserver_request_total' && labels.code >= '500')
      found.set(labels.verb, (found.get(labels.verb) ?? 0) + value)
  return found
}

const usedBytes = (samples) =>
  samples
    .filter(({ name, labels }) => name === 'keelson_cache_memory_bytes' && labels.kind === 'used')
    .reduce((sum, { value }) => sum + value, 0)

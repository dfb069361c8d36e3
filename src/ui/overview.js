/** Live figures, from /metrics every two seconds. Only what changed between two scrapes is shown as a rate. */
import { ApiError } from './api.js'
import { growth, parseMetrics, quantile, sumBy } from './metrics-text.js'
import { bytes, cells, element, rate, seconds, sparkline } from './view.js'

const PERIOD_MS = 2000
const POINTS = 60

export class Overview {
  #api
  #timer
  #last
  #history = new Map()

  constructor(api) {
    this.#api = api
  }

  start() {
    if (this.#timer === undefined) void this.#look()
  }

  stop() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#last = undefined
  }

  async #look() {
    this.#timer = setTimeout(() => this.#look(), PERIOD_MS)
    const problem = document.getElementById('metrics-error')
    try {
      const samples = parseMetrics(await this.#api.text('/metrics'))
      const now = { atMs: performance.now(), samples }
      if (this.#timer === undefined) return
      this.#show(now, this.#last)
      this.#last = now
      problem.textContent = ''
    } catch (error) {
      problem.textContent =
        error instanceof ApiError && error.status === 403
          ? 'You may not read /metrics; the overview needs a role with the non-resource URL /metrics.'
          : `The figures cannot be had: ${error.message}`
    }
  }

  #show(now, last) {
    const elapsed = last === undefined ? undefined : (now.atMs - last.atMs) / 1000
    const grown = (name, label) =>
      elapsed === undefined ? new Map() : growth(sumBy(last.samples, name, label), sumBy(now.samples, name, label))
    const total = (map) => [...map.values()].reduce((a, b) => a + b, 0)
    const gauge = (name) => total(sumBy(now.samples, name))
    const perSecond = (name) => (elapsed === undefined ? 0 : total(grown(name)) / elapsed)
    this.#tiles([
      ['Requests', perSecond('apiserver_request_total'), rate],
      ['Watchers', gauge('keelson_watchers'), String],
      ['Events sent', perSecond('apiserver_watch_events_total'), rate],
      ['Objects in memory', gauge('keelson_cache_objects'), String],
      ['Shared memory', usedBytes(now.samples), bytes],
      ['Process memory', gauge('process_resident_memory_bytes'), bytes],
    ])
    this.#verbs(now, last, elapsed)
    this.#threads(now, last, elapsed)
    this.#storage(now.samples)
    this.#resources(now.samples)
  }

  #tiles(figures) {
    const tiles = figures.map(([title, value, format]) => {
      const history = this.#history.get(title) ?? []
      history.push(value)
      if (history.length > POINTS) history.shift()
      this.#history.set(title, history)
      const tile = element('div', { className: 'tile' }, title, element('b', {}, format(value)))
      tile.append(sparkline(history, POINTS))
      return tile
    })
    document.getElementById('tiles').replaceChildren(...tiles)
  }

  #verbs(now, last, elapsed) {
    if (elapsed === undefined) return
    const name = 'apiserver_request_duration_seconds_bucket'
    const byVerb = new Map()
    const key = ({ verb, le }) => `${verb}\0${le}`
    const sums = (samples) => {
      const found = new Map()
      for (const sample of samples)
        if (sample.name === name) found.set(key(sample.labels), (found.get(key(sample.labels)) ?? 0) + sample.value)
      return found
    }
    for (const [each, count] of growth(sums(last.samples), sums(now.samples))) {
      const [verb, le] = each.split('\0')
      if (!byVerb.has(verb)) byVerb.set(verb, [])
      byVerb.get(verb).push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), count])
    }
    const rows = [...byVerb]
      .filter(([verb]) => verb !== 'WATCH')
      .map(([verb, buckets]) => {
        const count = Math.max(...buckets.map(([, n]) => n))
        return [verb, rate(count / elapsed), seconds(quantile(0.5, buckets)), seconds(quantile(0.99, buckets))]
      })
      .sort()
    cells('verbs', ['Verb', '#Rate', '#p50', '#p99'], rows)
  }

  #threads(now, last, elapsed) {
    const busy = sumBy(now.samples, 'keelson_event_loop_utilization', 'thread')
    const heap = new Map()
    for (const { name, labels, value } of now.samples)
      if (name === 'keelson_thread_heap_bytes' && labels.kind === 'used') heap.set(labels.thread, value)
    const cpu = 'keelson_thread_cpu_seconds_total'
    const used =
      last === undefined ? new Map() : growth(sumBy(last.samples, cpu, 'thread'), sumBy(now.samples, cpu, 'thread'))
    const rows = [...busy].map(([thread, share]) => [
      thread,
      `${Math.round(share * 100)} %`,
      elapsed === undefined ? '' : `${Math.round(((used.get(thread) ?? 0) / elapsed) * 100)} %`,
      bytes(heap.get(thread) ?? 0),
    ])
    cells('threads', ['Thread', '#Busy', '#Processor', '#Heap'], rows)
  }

  #storage(samples) {
    const rows = []
    for (const [endpoint, size] of sumBy(samples, 'apiserver_storage_db_total_size_in_bytes', 'endpoint'))
      rows.push([`Size of ${endpoint}`, bytes(size)])
    for (const [result, count] of sumBy(samples, 'keelson_compactions_total', 'result'))
      rows.push([`Compactions, ${result}`, String(count)])
    for (const [, revision] of sumBy(samples, 'keelson_compact_revision'))
      rows.push(['Compacted up to revision', String(revision)])
    cells('storage', ['', '#'], rows)
  }

  #resources(samples) {
    const by = new Map()
    const at = ({ group, resource }) => {
      const name = group === '' ? resource : `${resource}.${group}`
      if (!by.has(name)) by.set(name, { objects: 0, used: 0, watchers: 0 })
      return by.get(name)
    }
    for (const { name, labels, value } of samples) {
      if (name === 'keelson_cache_objects') at(labels).objects += value
      if (name === 'keelson_cache_memory_bytes' && labels.kind === 'used') at(labels).used += value
      if (name === 'keelson_watchers') at(labels).watchers += value
    }
    const rows = [...by]
      .sort(([a, x], [b, y]) => y.used - x.used || (a < b ? -1 : 1))
      .map(([name, { objects, used, watchers }]) => [name, String(objects), bytes(used), String(watchers)])
    cells('resources', ['Resource', '#Objects', '#Memory', '#Watchers'], rows)
  }
}

const usedBytes = (samples) =>
  samples
    .filter(({ name, labels }) => name === 'keelson_cache_memory_bytes' && labels.kind === 'used')
    .reduce((sum, { value }) => sum + value, 0)

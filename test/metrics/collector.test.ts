import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { Collector } from '#keelson/metrics/collector.js'
import { formatBound } from '#keelson/metrics/exposition.js'
import { processFamilies, requestFamilies } from '#keelson/metrics/families.js'
import type { Family } from '#keelson/metrics/family.js'
import { Metrics } from '#keelson/metrics/metrics.js'
import { Recorder } from '#keelson/metrics/recorder.js'
import { until } from '../support/until.js'

const counter: Family = {
  id: 0,
  name: 'c_total',
  type: 'counter',
  help: 'h',
  labels: ['a', 'b'],
  buckets: [],
  merge: 'sum',
}
const gauge: Family = { id: 1, name: 'g', type: 'gauge', help: 'h', labels: [], buckets: [], merge: 'sum' }
const histogram: Family = {
  id: 2,
  name: 'h',
  type: 'histogram',
  help: 'h',
  labels: ['a'],
  buckets: [1, 5],
  merge: 'sum',
}
const families = [counter, gauge, histogram]

function thread(collector: Collector, number: number): Recorder {
  return new Recorder((page) => collector.addPage(number, page))
}

const cells = (collector: Collector, family: Family): [string, number[]][] =>
  (collector.collect().get(family) ?? []).map(({ labels, cells }) => [labels.join('/'), [...cells]])

t.test('what threads count is summed by labels', async (t) => {
  const collector = new Collector(families)
  const one = thread(collector, 1)
  const two = thread(collector, 2)
  one.series(counter, 'x', 'y').add(1)
  one.series(counter, 'x', 'y').add(2)
  two.series(counter, 'x', 'y').add(4)
  two.series(counter, 'ü', '').add(1)
  t.same(cells(collector, counter), [
    ['x/y', [7]],
    ['ü/', [1]],
  ])
  one.series(gauge).set(5)
  two.series(gauge).set(6)
  t.same(cells(collector, gauge), [['', [11]]])
  two.series(gauge).clear()
  t.same(cells(collector, gauge), [['', [5]]], 'a cleared gauge counts for nothing')
  for (const value of [0.5, 1, 1.5, 5, 100]) one.series(histogram, 'a').observe(value)
  t.same(cells(collector, histogram), [['a', [2, 2, 1, 108]]])
})

t.test('a thread that ends leaves its counts and takes its gauges', async (t) => {
  const collector = new Collector(families)
  const one = thread(collector, 1)
  one.series(counter, 'x', 'y').add(3)
  one.series(gauge).set(1)
  one.series(histogram, 'a').observe(2)
  collector.threadEnded(1)
  const again = thread(collector, 2)
  again.series(counter, 'x', 'y').add(1)
  t.same(cells(collector, counter), [['x/y', [4]]])
  t.same(cells(collector, counter), [['x/y', [4]]], 'asking twice counts nothing twice')
  t.same(cells(collector, gauge), [])
  t.same(cells(collector, histogram), [['a', [0, 1, 0, 2]]])
})

t.test('a page that is full is followed by another; names without end stop being taken', async (t) => {
  const collector = new Collector(families)
  const one = thread(collector, 1)
  const long = 'x'.repeat(200)
  for (let i = 0; i < 6000; i++) one.series(counter, `${long}${i}`, 'y').add(1)
  const found = cells(collector, counter)
  t.equal(found.length, 4096)
  t.ok(found.every(([, [value]]) => value === 1))
})

t.test('the text is what Prometheus reads', async (t) => {
  const metrics = new Metrics()
  const { port1, port2 } = new MessageChannel()
  metrics.addThread(port2)
  const other = new Recorder((page) => port1.postMessage(page))
  other.series(processFamilies.poolTasks, 'write').add(2)
  metrics.recorder.series(processFamilies.poolTasks, 'write').add(1)
  const labels = ['GET', '', 'v1', 'pods', '', 'resource', 'apiserver']
  metrics.recorder.series(requestFamilies.responseSizes, ...labels).observe(1500)
  await until(async () => (await metrics.text()).includes('keelson_pool_tasks_total{type="write"} 3'), {
    what: 'three writes to be counted',
  })
  const text = await metrics.text()
  t.match(text, /# TYPE apiserver_response_sizes histogram/)
  t.match(
    text,
    'apiserver_response_sizes_bucket{verb="GET",group="",version="v1",resource="pods",subresource="",scope="resource",component="apiserver",le="10000"} 1',
  )
  t.match(text, /apiserver_response_sizes_count\{.*\} 1\n/)
  t.match(text, /apiserver_response_sizes_sum\{.*\} 1500\n/)
  port1.close()
  await until(async () => (await metrics.text()).includes('keelson_pool_tasks_total{type="write"} 3'), {
    what: 'three writes to be counted',
  })
})

t.test('bounds are written as Go writes them', async (t) => {
  const bounds = [0, 0.005, 0.25, 1, 30, 86_400, 150_000, 1e6, 1_050_000, 31_104_000, 1e9, 1e-8, 5e-6, 0.0001]
  t.same(
    bounds.map(formatBound),
    '0 0.005 0.25 1 30 86400 150000 1e+06 1.05e+06 3.1104e+07 1e+09 1e-08 5e-06 0.0001'.split(' '),
  )
})

t.test('a gauge that every thread says is said once', async (t) => {
  const shared: Family = { ...gauge, merge: 'max' }
  const collector = new Collector([counter, shared])
  thread(collector, 1).series(shared).set(-1)
  t.same(cells(collector, shared), [['', [-1]]])
  thread(collector, 2).series(shared).set(1)
  t.same(cells(collector, shared), [['', [1]]])
})

t.test('labels too long for a page are counted for nobody and disturb no other series', async (t) => {
  const collector = new Collector(families)
  const recorder = thread(collector, 1)
  for (const length of [5000, 70_000, 200_000]) recorder.series(counter, 'x'.repeat(length), 'y').add(1)
  recorder.series(counter, 'a', 'b').add(2)
  t.same(cells(collector, counter), [['a/b', [2]]])
})

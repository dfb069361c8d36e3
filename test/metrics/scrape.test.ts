import { Worker } from 'node:worker_threads'
import t from 'tap'
import { processFamilies, requestFamilies } from '#keelson/metrics/families.js'
import { Metrics } from '#keelson/metrics/metrics.js'
import type { MetricsLine } from '#keelson/protocol/metrics-line.js'
import { Exposition } from '../support/exposition.js'
import { until } from '../support/until.js'

/** Counts, then dies in the middle of its life. */
async function countAndDie(metrics: Metrics, count: number): Promise<void> {
  const worker = new Worker(new URL('./counting-thread.js', import.meta.url))
  await new Promise<void>((resolve) => {
    worker.on('message', (message: MetricsLine | { readonly type: 'counted' }) => {
      if (message.type === 'metrics') metrics.addThread(message.port)
      else resolve()
    })
    worker.postMessage(count)
  })
  const queue = (): number => metrics.sums(processFamilies.poolQueue).reduce((sum, { cells }) => sum + cells[0]!, 0)
  await until(async () => queue() === count, { what: 'every scrape to wait' })
  await worker.terminate()
  await until(async () => queue() === 0, { what: 'no scrape to wait' })
}

t.test('counters never go back when threads die and come again; gauges go with them', async (t) => {
  const metrics = new Metrics()
  let before = 0
  for (const [i, count] of [100, 50, 25].entries()) {
    await countAndDie(metrics, count)
    const now = new Exposition(await metrics.text())
    const tasks = now.value('keelson_pool_tasks_total', { type: 'write' })
    t.equal(tasks, before + count, `after ${i + 1} deaths`)
    t.equal(now.value('keelson_pool_task_duration_seconds_count', { type: 'write' }), before + count)
    before = tasks
  }
})

t.test('values of labels are escaped, whatever they are', async (t) => {
  const metrics = new Metrics()
  const values = ['a"b', 'a\\b', 'a\nb', 'ü', '', '{}', 'a,b="c"', '\\n']
  for (const value of values) metrics.recorder.series(processFamilies.poolTasks, value).add(1)
  const read = new Exposition(await metrics.text())
  t.same(
    read.samples('keelson_pool_tasks_total').map(({ labels }) => labels['type']),
    values,
  )
})

t.test('a scrape of twenty thousand series lets others go on', async (t) => {
  const metrics = new Metrics()
  for (let i = 0; i < 4000; i++) {
    const labels = ['GET', '', 'v1', `resource-${i}`, '', 'resource', 'apiserver']
    metrics.recorder.series(requestFamilies.responseSizes, ...labels).observe(i)
  }
  await metrics.text()
  let over = false
  let turns = 0
  const count = (): void => {
    turns++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  const started = performance.now()
  const [text, again] = await Promise.all([metrics.text(), metrics.text()])
  const took = performance.now() - started
  over = true
  t.equal(text, again, 'two that ask at once are told the same')
  t.ok(turns > 1, `${text.length} characters in ${turns} turns, ${took.toFixed(1)} ms`)
  t.equal(new Exposition(text).samples('apiserver_response_sizes_count').length, 4000)
})

t.test('what is not allowed is noticed', async (t) => {
  const head = '# HELP a h\n# TYPE a counter\n'
  const histogram = '# HELP h h\n# TYPE h histogram\n'
  for (const text of [
    'a 1\n',
    `${head}a 1`,
    `${head}a 1\na 2\n`,
    `${head}a{x="1",x="2"} 1\n`,
    `${head}a{x="1"}1\n`,
    `${head}a{x="\\t"} 1\n`,
    `${head}a one\n`,
    `${head}a -1\n`,
    `${head}b 1\n`,
    `${head}${head}a 1\n`,
    `${histogram}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`,
    `${histogram}h_bucket{le="1"} 1\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n`,
    `${histogram}h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n`,
    `${histogram}h_bucket{le="+Inf"} 1\nh_count 1\n`,
  ])
    t.throws(() => new Exposition(text), text)
  t.doesNotThrow(() => new Exposition(`${head}a{x="\\n\\"\\\\"} 1e+06\n`))
})

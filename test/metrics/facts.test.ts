import t from 'tap'
import { FAMILIES } from '#keelson/metrics/families.js'
import { Metrics } from '#keelson/metrics/metrics.js'
import { recordedLines } from '../support/recordings/recording.js'

interface Fact {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
  readonly buckets?: readonly number[]
}

/** Metrics of kube-apiserver that nothing here could count, and why. */
const ABSENT: Readonly<Record<string, string>> = {
  aggregator_unavailable_apiservice: 'no other API servers are aggregated',
  aggregator_unavailable_apiservice_total: 'no other API servers are aggregated',
  apiserver_cel_compilation_duration_seconds: 'no CEL is compiled',
  apiserver_cel_evaluation_duration_seconds: 'no CEL is evaluated',
  apiserver_storage_consistency_checks_total: 'memory is made of one list and one watch; a debugging aid compares them',
  apiserver_validation_declarative_validation_mismatch_total: 'there is one way to validate, not two',
  apiserver_validation_declarative_validation_panic_total: 'there is one way to validate, not two',
  apiserver_watch_filtered_events_total: 'watches cannot ask for a shard',
  apiserver_watch_shards_total: 'watches cannot ask for a shard',
  disabled_metrics_total: 'no metric can be turned off',
  go_goroutines: 'there is no Go',
  hidden_metrics_total: 'no metric is hidden',
  registered_metrics_total: 'metrics have no stability levels here',
  running_managed_controllers: 'controllers are other programs',
}

t.test('every metric stands at its id, by which threads name it to each other', (t) => {
  t.same(
    FAMILIES.map(({ id }) => id),
    FAMILIES.map((_, place) => place),
  )
  t.equal(new Set(FAMILIES.map(({ name }) => name)).size, FAMILIES.length, 'no name is given twice')
  t.end()
})

t.test('names, types, labels and buckets are kube-apiserver’s', async (t) => {
  const metrics = recordedLines<Fact>('facts/metrics.jsonl')
  const byName = new Map(FAMILIES.map((family) => [family.name, family]))
  const own = new Metrics()
  own.start()
  const text = await own.text()
  for (const fact of metrics) {
    const family = byName.get(fact.name)
    if (family === undefined) {
      if (text.includes(`# TYPE ${fact.name} ${fact.type}\n`)) continue
      t.ok(ABSENT[fact.name], `${fact.name} is there, or it is said why not`)
      continue
    }
    t.notOk(ABSENT[fact.name], `${fact.name} is there, so no reason is needed`)
    t.equal(family.type, fact.type, `type of ${fact.name}`)
    t.same([...family.labels].sort(), [...fact.labels].sort(), `labels of ${fact.name}`)
    if (fact.buckets === undefined) continue
    t.equal(family.buckets.length, fact.buckets.length, `buckets of ${fact.name}`)
    const apart = family.buckets.filter((bound, i) => Math.abs(bound - fact.buckets![i]!) > 1e-9 * Math.abs(bound))
    t.same(apart, [], `bounds of ${fact.name}`)
  }
  const known = new Set(metrics.map(({ name }) => name))
  for (const name of Object.keys(ABSENT)) t.ok(known.has(name), `${name} is one of kube-apiserver’s`)
})

t.test('the table is sound', async (t) => {
  const names = FAMILIES.map(({ name }) => name)
  t.equal(new Set(names).size, names.length, 'no name stands there twice')
  for (const [i, { id, name, help, labels, buckets, type }] of FAMILIES.entries()) {
    t.equal(id, i, `${name} lies at its id`)
    t.match(name, /^[a-z][a-z0-9_]*$/)
    t.match(help, /\.$/, `${name} says what it is`)
    for (const label of labels) t.match(label, /^[a-z][a-z0-9_]*$/)
    t.equal(buckets.length > 0, type === 'histogram', `${name} has buckets, or needs none`)
    t.ok(
      buckets.every((bound, b) => b === 0 || bound > buckets[b - 1]!),
      `the bounds of ${name} ascend`,
    )
  }
})

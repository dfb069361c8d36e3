import t from 'tap'
import { ConditionMetrics } from '#keelson/admission/expressions/condition-metrics.js'
import { MutatingEvaluator } from '#keelson/admission/policies/mutating-policy.js'
import { systemClock } from '#keelson/lib/clock.js'
import { noRecorder } from '#keelson/metrics/recorder.js'
import { inputOf } from '../expressions/fixture.js'

const metrics = new ConditionMetrics(noRecorder(), 'policy', 'admit')
const input = inputOf({ object: { metadata: { name: 'x' }, spec: { replicas: 2 } } })

const change = (mutation: object, variables: { name: string; expression: string }[] = []) =>
  new MutatingEvaluator({ spec: { variables, mutations: [mutation] } }, systemClock, metrics).change(0, input)
const applied = (expression: string, variables?: { name: string; expression: string }[]) =>
  change({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }, variables)
const patched = (expression: string) => change({ patchType: 'JSONPatch', jsonPatch: { expression } })

t.test('an apply configuration is built of objects, lists and maps', async (t) => {
  const expression =
    "Object{spec: Object.spec{replicas: object.spec.replicas + 1, containers: [Object.spec.containers{name: 'a'}]}, data: {'k': 'v'}}"
  t.same(applied(expression), {
    type: 'ApplyConfiguration',
    configuration: { spec: { replicas: 3, containers: [{ name: 'a' }] }, data: { k: 'v' } },
  })
  t.same(applied('Object{metadata: Object.metadata{?labels: optional.none()}}'), {
    type: 'ApplyConfiguration',
    configuration: { metadata: {} },
  })
})

t.test('an object may stand only where its name says', async (t) => {
  for (const wrong of [
    'Object{spec: Object.status{}}',
    'Object{spec: Object.spec{containers: [Object.spec.wrong{}]}}',
    'Object{spec: Object{}}',
  ])
    t.throws(() => applied(wrong), /type mismatch: unexpected type name/, wrong)
  t.throws(() => applied('Object.spec{}'), /must evaluate to Object but got Object.spec/)
})

t.test('operations of a patch have values of every type', async (t) => {
  const values = "1.0, b'ab', timestamp('2020-01-02T03:04:05Z'), duration('90s'), null, [1], {'a': true}".split(', ')
  for (const [i, expected] of [1, 'YWI=', '2020-01-02T03:04:05Z', '90s', null, [1], { a: true }].entries())
    t.match(
      patched(`[JSONPatch{op: 'add', path: '/x', value: ${values[i]}}]`),
      { operations: [{ op: 'add', path: '/x', value: expected }] },
      values[i]!,
    )
  t.same(patched("[JSONPatch{op: 'move', path: '/a', from: '/b'}]"), {
    type: 'JSONPatch',
    operations: [{ op: 'move', path: '/a', from: '/b' }],
  })
})

t.test('what has no place in JSON is an error', async (t) => {
  for (const value of ['int', 'optional.none()', 'authorizer', "{1: 'a'}", "quantity('1')"])
    t.throws(() => patched(`[JSONPatch{op: 'add', path: '/x', value: ${value}}]`), { code: 'mutation' }, value)
})

t.test('a change that shares its parts without end is refused before it is written out', async (t) => {
  const variables = [{ name: 'v0', expression: "['x']" }]
  for (let i = 1; i <= 60; i++)
    variables.push({ name: `v${i}`, expression: `[variables.v${i - 1}, variables.v${i - 1}]` })
  t.throws(() => applied('Object{data: variables.v60}', variables), /larger than/)
  t.throws(() => applied('Object{spec: Object.spec{a: variables.v60, b: variables.v60}}', variables), /larger than/)
})

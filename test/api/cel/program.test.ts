import t from 'tap'
import { baseEnvironment, type Environment } from '#keelson/api/cel/environment.js'
import { type Activation, compile, EvaluationError } from '#keelson/api/cel/program.js'
import {
  type CelType,
  DOUBLE,
  DYN,
  INT,
  listOf,
  objectOf,
  optionalOf,
  STRING,
  TIMESTAMP,
} from '#keelson/api/cel/types.js'

const ITEM = objectOf('item', { port: INT })
const SELF = objectOf('self', {
  replicas: INT,
  share: DOUBLE,
  name: STRING,
  items: listOf(ITEM, { maxElements: 10 }),
  since: TIMESTAMP,
})
const base = baseEnvironment('new').extend({ variables: { self: SELF, x: DYN } })
const self = { replicas: 3, share: 1, name: 'abc', items: [{ port: 1 }, { port: 2 }], since: '2019-01-01T00:00:00Z' }

function run(source: string, activation: Activation = { self, x: {} }, environment: Environment = base): unknown {
  const { program, errors } = compile(source, environment)
  if (errors !== undefined) return errors
  const result = program.evaluate(activation)
  return result instanceof EvaluationError ? `error: ${result.message}` : result
}

t.test('rules read JSON by its declared types', async (t) => {
  t.equal(run("self.replicas > 2 && self.name.startsWith('ab') && self.items.all(i, i.port > 0)"), true)
  t.equal(run("self.since < timestamp('2020-01-01T00:00:00Z')"), true)
  t.equal(run('self.share == 1.0 && type(self.share) == double'), true)
  t.equal(run('self.replicas'), 3)
  t.equal(run('has(self.name)', { self: { name: null } }), false, 'null in a field is absence')
  t.equal(run('self.name', { self: {} }), 'error: no such key: name')
  t.match(run('self.name', { self: { name: 1 } }), /^error: expected string/)
})

t.test('errors are taken along only as far as they matter', async (t) => {
  t.equal(run('1 / 0 > 0 || true'), true)
  t.equal(run('1 / 0 > 0 && false'), false)
  t.equal(run('[0, 1].exists(i, 1 / i == 1)'), true)
  t.equal(run('[0, 1].all(i, 1 / i == 1)'), 'error: division by zero')
  t.equal(run('9223372036854775807 + 1'), 'error: integer overflow')
  t.equal(run('9223372036854775806 + 1 == 9223372036854775807'), true)
})

t.test('what is wrong is told as kube-apiserver tells it', async (t) => {
  t.equal(run('y'), "ERROR: <input>:1:1: undeclared reference to 'y' (in container '')\n | y\n | ^")
  t.equal(
    run("1 + 'a'"),
    "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^",
  )
  t.match(run('self.foo'), /undefined field 'foo'/)
  t.match(run("'a'.matches('a(')"), /invalid matches argument/)
})

t.test('optional values', async (t) => {
  t.equal(run('x.?a.?b.orValue(5)'), 5)
  t.equal(run('x.?a.b.hasValue()', { x: { a: { b: null } } }), true)
  t.equal(run('optional.of(3).optMap(v, v + 1).value()'), 4)
  const environment = base.extend({ variables: { oldSelf: optionalOf(SELF) as CelType } })
  t.match(run('oldSelf.name', {}, environment), /no such attribute/)
})

t.test('costs are estimated and counted, and limited', async (t) => {
  const { program } = compile('self.items.all(i, i.port > 0)', base)
  t.same(program?.estimatedCost, { min: 3, max: 63 })
  const budget = { remaining: 100 }
  program?.evaluate({ self }, budget)
  t.equal(budget.remaining, 85)
  const list = Array.from({ length: 1000 }, (_one, i) => i)
  t.equal(
    run('x.all(a, x.all(b, x.all(c, a + b + c >= 0)))', { x: list }),
    'error: operation cancelled: actual cost limit exceeded',
  )
})

t.test('expressions that nest too deep, or are too long, are refused', async (t) => {
  t.match(run(`${'('.repeat(300)}1${')'.repeat(300)}`), /recursion limit exceeded: 250/)
  t.match(run('1'.concat(' + 1'.repeat(300))), /max recursion depth exceeded/)
  t.match(run('x'.repeat(100_001)), /code point size exceeds limit/)
})

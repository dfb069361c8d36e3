/**
 * Expressions that are made to hurt: a few characters that become many nodes, types, values or steps. Each is refused, or ends
 * with the words of a cost limit, after work that is bounded: without the bound a case here would take hours, not seconds.
 */
import t from 'tap'
import { baseEnvironment } from '#keelson/api/cel/environment.js'
import { bindings } from '#keelson/api/cel/library/bindings.js'
import { type Activation, compile, EvaluationError } from '#keelson/api/cel/program.js'
import { BOOL, DOUBLE, DYN, INT, listOf, mapOf, STRING } from '#keelson/api/cel/types.js'

const ENVIRONMENT = baseEnvironment('stored').extend({
  libraries: [bindings],
  variables: { text: STRING, doubles: listOf(DOUBLE), entries: mapOf(STRING, INT), anything: DYN, yes: BOOL },
})
const LIMIT = 'operation cancelled: actual cost limit exceeded'

function outcome(source: string, given: Activation = {}): unknown {
  const { program, errors } = compile(source, ENVIRONMENT)
  if (program === undefined) return errors.split('\n', 1)[0]
  const value = program.evaluate(given)
  return value instanceof EvaluationError ? value.message : value
}

const numbers = (size: number): number[] => Array.from({ length: size }, (_, i) => i)
const chain = (start: string, call: string, times: number): string => start + call.repeat(times)
const nested = (macro: string, depth: number, body: string): string =>
  Array.from({ length: depth }).reduceRight<string>((inner, _, i) => `[1].${macro}(v${i}, ${inner})`, body)

t.test('expressions that would be too large are refused', async (t) => {
  t.match(outcome(chain('optional.of(1)', '.optMap(x, x)', 100)), /expression size limit exceeded/)
  t.match(outcome(chain('[1]', '.map(x, {x: x})', 60)), /type of the expression is too large/)
  t.match(outcome(`${'('.repeat(5000)}1${')'.repeat(5000)}`), /expression recursion limit exceeded: 250/)
  t.match(outcome(`${'['.repeat(5000)}1${']'.repeat(5000)}`), /expression recursion limit exceeded: 250/)
  t.equal(outcome(`${'!'.repeat(50_000)}yes`, { yes: true }), true, 'an even number of them')
  t.match(outcome('1'.concat('+1'.repeat(40_000))), /max recursion depth exceeded/)
  t.match(outcome(`anything${'.a'.repeat(40_000)}`), /max recursion depth exceeded/)
  t.match(outcome('x'.repeat(100_001)), /expression code point size exceeds limit/)
  t.match(outcome(`'a'.matches('${'\\\\pL'.repeat(10_000)}')`), /invalid matches argument/)
  t.match(outcome(`[${'$'.repeat(90_000)}`), /Syntax error/)
  t.match(outcome('"'.concat('\\"'.repeat(40_000))), /Syntax error/)
})

t.test('expressions that are large are compiled in time', async (t) => {
  t.equal(outcome(`[${'1,'.repeat(49_000)}1].size()`), 49_001)
  t.equal(outcome(`yes${' || yes'.repeat(14_000)}`, { yes: true }), true)
  t.equal(outcome(nested('all', 60, 'true')), true)
  t.equal(outcome(nested('exists', 60, 'true')), true)
  t.equal(outcome(`${nested('map', 30, '1')}.size()`), 1)
})

t.test('values that double end with the limit of costs, or of work', async (t) => {
  t.equal(outcome(`${chain('[[1]]', '.map(x, x + x)', 60)}.size()`), LIMIT)
  t.equal(outcome(`${chain("['aaaaaaaaaa']", '.map(x, x + x)', 60)}.size()`), LIMIT)
  const dag = chain('[1]', '.map(x, [x, x])', 60)
  t.equal(outcome(`${dag} == ${dag}`), LIMIT)
  t.equal(outcome(`${dag} != ${dag} || true`), LIMIT, 'nothing can do without it')
  t.equal(outcome(`'%s'.format([${dag}])`), LIMIT)
  t.equal(outcome(`${dag} in [${dag}, ${dag}]`), LIMIT)
  t.equal(outcome(`dyn(${dag}).flatten(100).size()`), LIMIT)
  t.equal(outcome('text.replace("", text).replace("", text)', { text: 'x'.repeat(5000) }), LIMIT)
  const sum = Array.from({ length: 200 }, () => 'text').join(' + ')
  t.equal(outcome(`[1, 2].all(i, (${sum}).size() > 0)`, { text: 'x'.repeat(9_000_000) }), LIMIT)
})

t.test('loops end with the limit of costs', async (t) => {
  t.equal(outcome('lists.range(1000000000).size()'), LIMIT)
  t.equal(outcome('lists.range(1000).all(i, lists.range(1000).all(j, i + j >= 0))'), LIMIT)
  t.equal(outcome('lists.range(5000).map(i, lists.range(5000)).size()'), LIMIT)
  t.equal(outcome('lists.range(1000).transformMap(i, v, lists.range(1000)).size()'), LIMIT)
  const big = numbers(20_000)
  t.equal(outcome('doubles.all(d, doubles[19999] >= d)', { doubles: big }), true, 'an item is read without the others')
  const entries = Object.fromEntries(big.map((i) => [`k${i}`, i]))
  t.equal(outcome('doubles.all(d, entries.size() > 0)', { doubles: big, entries }), LIMIT)
  t.equal(outcome('doubles.all(d, entries.exists(k, true))', { doubles: big, entries }), LIMIT)
})

t.test('patterns with many states end with the limit of work', async (t) => {
  const given = { text: 'a'.repeat(100_000) }
  t.equal(outcome("text.matches('([a-z]{1,500}){1,2}[0-9]')", given), LIMIT)
  t.equal(outcome("matches(text, '([a-z]{1,500}){1,2}[0-9]')", given), LIMIT)
  t.equal(outcome("text.find('([a-z]{1,500}){1,2}[0-9]')", given), LIMIT)
  t.equal(outcome(`lists.range(10000).all(i, 'a'.matches('${'\\\\pL?'.repeat(800)}' + string(i)) || true)`), LIMIT)
  t.equal(outcome("text.matches('^a+$')", { text: 'a'.repeat(1000) }), true)
})

t.test('what is found many times is searched for many times', async (t) => {
  const given = { text: 'x'.repeat(16_000) }
  t.equal(outcome("text.findAll('x*y|x').size() > 0", given), LIMIT)
  t.equal(outcome("text.findAll('x*y|x', 100000).size() > 0", given), LIMIT)
  t.equal(outcome("text.findAll('x*y|x', 3).size()", given), 3)
  t.equal(outcome("text.findAll('[a-z]+').size()", { text: 'some words '.repeat(200) }), 400)
})

t.test('patterns that repeat much are not compiled', async (t) => {
  const given = { text: 'x{1000}'.repeat(580) }
  t.match(outcome("!'x'.matches(text)", given), /expression is too large/)
  t.match(outcome("'x'.find(text) == ''", given), /expression is too large/)
  t.match(outcome("'x'.findAll(text).size() == 0", given), /expression is too large/)
  t.match(outcome(`'x'.matches('${given.text}')`), /invalid matches argument/)
  t.equal(
    outcome("lists.range(1000).all(i, !'x'.matches('x{999}'.replace('9', '8') + text + string(i)))", {
      text: 'x{900}',
    }),
    LIMIT,
  )
  t.equal(outcome("'x'.matches('^[a-z]([-a-z0-9]{0,253}[a-z0-9])?$')"), true)
})

/**
 * Random expressions and mutilated ones: compiling and evaluating never throws, whatever they say and whatever they get, and an
 * evaluation ends soon after its cost has reached the limit.
 */
import t from 'tap'
import { baseEnvironment } from '#keelson/api/cel/environment.js'
import { PER_CALL_LIMIT } from '#keelson/api/cel/limits.js'
import { compile } from '#keelson/api/cel/program.js'
import { DYN, INT, listOf, mapOf, objectOf, STRING, TIMESTAMP } from '#keelson/api/cel/types.js'
import { SUITES } from '../api/cel/conformance/suites.js'
import { fuzzRounds, fuzzSeed, Random } from '../support/fuzz.js'
import { randomJson } from './random-json.js'

const SELF = objectOf('self', {
  name: STRING,
  count: INT,
  items: listOf(objectOf('item', { port: INT, name: STRING }), { maxElements: 10 }),
  labels: mapOf(STRING, STRING),
  since: TIMESTAMP,
})
const ENVIRONMENT = baseEnvironment('stored').extend({ variables: { self: SELF, x: DYN } })

const WORDS = [
  ...['self', 'x', 'self.name', 'self.count', 'self.items', 'self.labels', 'self.since', 'x.a', 'x.?b', 'i', 'i.port'],
  ...[
    '1',
    '-1',
    '0',
    '1u',
    '1.5',
    "'a'",
    "b'a'",
    'true',
    'null',
    '9223372036854775807',
    '[]',
    '{}',
    '[1, 2]',
    "{'a': 1}",
  ],
  ...['.all(i, ', '.exists(i, ', '.map(i, ', '.filter(i, ', '.exists_one(i, ', '.transformMap(k, v, ', '.optMap(i, '],
  ...['.size()', '.startsWith(', '.matches(', '.format([', '.split(', '.join()', '.orValue(', '.sort()', '.indexOf('],
  ...[
    'size(',
    'has(',
    'string(',
    'int(',
    'duration(',
    'timestamp(',
    'quantity(',
    'ip(',
    'optional.of(',
    'type(',
    'dyn(',
  ],
  ...[
    ' + ',
    ' - ',
    ' * ',
    ' / ',
    ' % ',
    ' == ',
    ' != ',
    ' < ',
    ' in ',
    ' && ',
    ' || ',
    ' ? ',
    ' : ',
    '!',
    '-',
    '[',
    '[?',
  ],
  ...[']', ')', '(', '}', '{', ', ', '.', '?', "'", '"', '\\', '\n', '//', '$', '`a`', '\u{1f600}'],
]

/** Words in a row; brackets are mostly closed, so that some of them mean something. */
function randomSource(random: Random): string {
  const words = Array.from({ length: 1 + random.below(14) }, () => random.pick(WORDS))
  const open = words
    .join('')
    .split('')
    .filter((one) => one === '(').length
  return words.join('') + (random.chance(20) ? '' : ')'.repeat(open))
}

/** A source of CEL's suites with something cut out, doubled, or put in from another one. */
function mutated(random: Random, sources: readonly string[]): string {
  const source = random.pick(sources)
  const [a, b] = [random.below(source.length + 1), random.below(source.length + 1)].sort((m, n) => m - n) as [
    number,
    number,
  ]
  const part = source.slice(a, b)
  switch (random.below(4)) {
    case 0:
      return source.slice(0, a) + source.slice(b)
    case 1:
      return source.slice(0, b) + part + source.slice(b)
    case 2:
      return source.slice(0, a) + random.pick(WORDS) + source.slice(b)
    default:
      return source.slice(0, a) + random.pick(sources).slice(0, 40) + source.slice(a)
  }
}

t.test('no expression throws, and costs are bounded', async (t) => {
  const random = new Random(fuzzSeed())
  const sources = SUITES.conformance.map(({ expr }) => expr).filter((expr) => expr.length < 300)
  let [compiled, ran] = [0, 0]
  for (let round = 0; round < fuzzRounds(4000); round++) {
    const source = random.chance(50) ? randomSource(random) : mutated(random, sources)
    const { program, errors } = compile(source, ENVIRONMENT)
    if (program === undefined) {
      if (!errors.startsWith('ERROR: ')) t.fail(`${source}: ${errors}`)
      continue
    }
    compiled++
    const budget = { remaining: 0 }
    program.evaluate({ self: randomJson(random, 3), x: randomJson(random, 3) }, budget)
    if (-budget.remaining > 3 * PER_CALL_LIMIT) t.fail(`${source} cost ${-budget.remaining}`)
    ran++
  }
  t.ok(compiled > 100, `${compiled} expressions were right`)
  t.equal(ran, compiled)
})

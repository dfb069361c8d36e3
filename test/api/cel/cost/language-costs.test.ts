/** What the language itself costs: estimates from literals and declared sizes, and costs of evaluations. */
import t from 'tap'
import { UNBOUNDED } from '#keelson/api/cel/cost/estimate.js'
import { baseEnvironment } from '#keelson/api/cel/environment.js'
import { type Activation, compile, EvaluationError } from '#keelson/api/cel/program.js'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  mapOf,
  objectOf,
  STRING,
  TIMESTAMP,
} from '#keelson/api/cel/types.js'
import { costOf, literalProgram } from './literal-program.js'

interface Fact {
  readonly types?: Readonly<Record<string, CelType>>
  readonly estimate?: readonly [number, number]
  readonly given?: Activation
  readonly cost?: number
}

const sized = (type: CelType, maxElements: number): CelType => ({ ...type, maxElements })
const text = (maxElements: number): CelType => sized(STRING, maxElements)
const OBJECT = objectOf('object', { single_int32: INT })
const letters = (count: number): string => 'x'.repeat(count)
const FOUR = { a: BOOL, b: BOOL, c: BOOL, d: BOOL }
const MAP_OF = (type: CelType): { types: Record<string, CelType> } => ({ types: { self: mapOf(STRING, type) } })

const FACTS: readonly (readonly [string, Fact])[] = [
  ['"Hello World!"', { estimate: [0, 0], cost: 0 }],
  ['input', { types: { input: listOf(INT) }, estimate: [1, 1], given: { input: [1, 2] }, cost: 1 }],
  [
    "input['key']",
    { types: { input: mapOf(STRING, STRING) }, estimate: [2, 2], given: { input: { key: 'v' } }, cost: 2 },
  ],
  ['input[0]', { types: { input: listOf(STRING) }, given: { input: ['v'] }, cost: 2 }],
  [
    'input.single_int32',
    { types: { input: OBJECT }, estimate: [2, 2], given: { input: { single_int32: 1 } }, cost: 2 },
  ],
  ["input['ke' + 'y']", { types: { input: mapOf(STRING, STRING) }, given: { input: { key: 'v' } }, cost: 3 }],
  ['input[3-3]', { types: { input: listOf(STRING) }, given: { input: ['v'] }, cost: 3 }],
  [
    'has(input.single_int32)',
    { types: { input: OBJECT }, estimate: [1, 1], given: { input: { single_int32: 1 } }, cost: 1 },
  ],
  [
    'has(input.testAttr.nestedAttr)',
    {
      types: { input: mapOf(STRING, mapOf(STRING, STRING)) },
      estimate: [2, 2],
      given: { input: { testAttr: { nestedAttr: '0' } } },
      cost: 2,
    },
  ],
  ['[1, 2, 3]', { estimate: [10, 10], cost: 10 }],
  ['{"a": 1, "b": 2, "c": 3}', { estimate: [30, 30], cost: 30 }],
  [
    'input.all(x, true)',
    { types: { input: listOf(OBJECT, { maxElements: 100 }) }, estimate: [2, 302], given: { input: [] }, cost: 2 },
  ],
  [
    'input.all(x, x.all(y, true))',
    {
      types: { input: listOf(listOf(OBJECT, { maxElements: 10 }), { maxElements: 50 }) },
      estimate: [2, 1752],
      given: { input: [] },
      cost: 2,
    },
  ],
  ['[1, 2, 3].all(x, true)', { estimate: [20, 20], cost: 20 }],
  [
    "input.matches('[0-9]')",
    { types: { input: text(500) }, estimate: [3, 103], given: { input: letters(500) }, cost: 103 },
  ],
  ["'123'.matches('[0-9]')", { estimate: [2, 2], cost: 2 }],
  ['false || false', { cost: 0 }],
  ['true || false', { estimate: [0, 0], cost: 0 }],
  ['a || b || c || d', { types: FOUR, estimate: [1, 4], given: { a: false, b: false, c: false, d: false }, cost: 4 }],
  ['true && false', { estimate: [0, 0], cost: 0 }],
  ['a && b && c && d', { types: FOUR, estimate: [1, 4], given: { a: true, b: true, c: true, d: true }, cost: 4 }],
  ...['1 < 2', '1 <= 2', '1 == 2', '2 > 1', '2 >= 1', '1 + 1', '1 - 1', '1 / 1', '1 * 1', '1 % 1'].map(
    (source): [string, Fact] => [source, { estimate: [1, 1], cost: 1 }],
  ),
  ['2 in [1, 2, 3]', { estimate: [13, 13], cost: 13 }],
  ['true ? 1 : 2', { estimate: [0, 0], cost: 0 }],
  ['size("123")', { estimate: [1, 1], cost: 1 }],
  ['size(b"123")', { estimate: [1, 1], cost: 1 }],
  ["'12345678901234567890' == '123456789012345678901234567890'", { cost: 2 }],
  ['string(input)', { types: { input: sized(BYTES, 500) }, estimate: [1, 51] }],
  ['string(input) == string(input)', { types: { input: sized(BYTES, 500) }, estimate: [3, 152] }],
  ['bytes(input)', { types: { input: text(500) }, estimate: [1, 51], given: { input: letters(500) }, cost: 51 }],
  ['bytes(input) == bytes(input)', { types: { input: text(500) }, estimate: [3, 302] }],
  ['string(1)', { estimate: [1, 1], cost: 1 }],
  [
    'input.contains(arg1)',
    {
      types: { input: text(500), arg1: text(500) },
      estimate: [2, 2502],
      given: { input: letters(500), arg1: letters(500) },
      cost: 2502,
    },
  ],
  [
    "input.matches('\\\\d+a\\\\d+b')",
    { types: { input: text(500) }, estimate: [3, 103], given: { input: letters(500) }, cost: 103 },
  ],
  ...['startsWith', 'endsWith'].map((name): [string, Fact] => [
    `input.${name}(arg1)`,
    {
      types: { input: STRING, arg1: text(500) },
      estimate: [2, 52],
      given: { input: 'idc', arg1: letters(500) },
      cost: 3,
    },
  ]),
  ['input.size()', { types: { input: STRING }, estimate: [2, 2], given: { input: '500' }, cost: 2 }],
  ['size(input)', { types: { input: STRING }, estimate: [2, 2], given: { input: '500' }, cost: 2 }],
  [
    '(x > 2 ? input1 : input2).all(y, true)',
    {
      types: { x: INT, input1: listOf(OBJECT, { maxElements: 1 }), input2: listOf(OBJECT, { maxElements: 1 }) },
      estimate: [4, 7],
      given: { x: 1, input1: [{}], input2: [{}] },
      cost: 6,
    },
  ],
  ['true ? false : 1 > 3', { cost: 0 }],
  ['false ? false : 1 > 3', { cost: 1 }],
  [
    'input.all(k, input[k].single_int32 > 3)',
    {
      types: { input: mapOf(STRING, OBJECT, { maxElements: 10 }) },
      estimate: [2, 82],
      given: { input: { val: { single_int32: 0 } } },
      cost: 9,
    },
  ],
  [
    'input.all(k, input[k].all(x, true))',
    {
      types: { input: mapOf(STRING, mapOf(STRING, OBJECT, { maxElements: 10 }), { maxElements: 5 }) },
      estimate: [2, 187],
    },
  ],
  [
    'input.all(k, k.contains(k))',
    { types: { input: mapOf(text(10), mapOf(STRING, OBJECT), { maxElements: 5 }) }, estimate: [2, 32] },
  ],
  [
    'input.all(k, input[k].all(k, true) && k.contains(k))',
    {
      types: { input: mapOf(text(5), mapOf(STRING, OBJECT, { maxElements: 2 }), { maxElements: 2 }) },
      estimate: [2, 34],
    },
  ],
  [
    '(list1 + list2).all(x, true)',
    {
      types: { list1: listOf(INT, { maxElements: 10 }), list2: listOf(INT, { maxElements: 10 }) },
      estimate: [4, 64],
      given: { list1: [], list2: [] },
      cost: 4,
    },
  ],
  [
    '"abcdefg".contains(str1 + str2)',
    {
      types: { str1: text(10), str2: text(10) },
      estimate: [2, 6],
      given: { str1: 'val1', str2: 'val2222222' },
      cost: 6,
    },
  ],
  ['(1 > 2 ? 5 : 3) > 1', { cost: 2 }],
  ['(1 > 2 || 2 > 1) == true', { cost: 3 }],
  ["[{'k1': 1}, {'k2': 2}].all(x, true)", { cost: 77 }],
  ['list1.size() == list2.size()', { types: { list1: listOf(INT), list2: listOf(INT) }, estimate: [5, 5] }],
  [
    'x > y ? list1.size() : list2.size()',
    { types: { x: INT, y: INT, list1: listOf(INT), list2: listOf(INT) }, estimate: [5, 5] },
  ],
  [
    '([x, y] + list1 + list2).size()',
    {
      types: { x: INT, y: INT, list1: listOf(INT, { maxElements: 10 }), list2: listOf(INT, { maxElements: 20 }) },
      estimate: [17, 17],
    },
  ],
  [
    "[list1, list2].exists(l, l.exists(v, v.startsWith('hi')))",
    {
      types: { list1: listOf(text(64), { maxElements: 10 }), list2: listOf(text(128), { maxElements: 20 }) },
      estimate: [21, 265],
    },
  ],
  [
    'str1.endsWith("abcdefghijklmnopqrstuvwxyz") == str2.endsWith("abcdefghijklmnopqrstuvwxyz")',
    { types: { str1: STRING, str2: STRING }, estimate: [9, 9] },
  ],
  ['((5 != 6) == (1 == 2)) == ((3 <= 4) == (9 != 9))', { estimate: [7, 7] }],
  ['string(a) == string(b)', { types: { a: TIMESTAMP, b: TIMESTAMP }, estimate: [5, UNBOUNDED] }],
  ['a == b', { types: { a: sized(TIMESTAMP, 1), b: sized(TIMESTAMP, 1) }, estimate: [3, 3] }],
  ['a != b', { types: { a: sized(DURATION, 1), b: sized(DURATION, 1) }, estimate: [3, 3] }],
  ['[1,2,3,4,5].filter(x, x % 2 == 0)', { estimate: [41, 101], cost: 62 }],
  ['[1,2,3,4,5].map(x, x)', { estimate: [86, 86], cost: 86 }],
  ['[1,2,3,4,5].map(x, x).filter(x, x % 2 == 0)', { estimate: [117, 177], cost: 138 }],
  ['[1,2,3,4,5].map(x, x).exists(x, x == 5) == true', { estimate: [108, 118], cost: 118 }],
  ['[1,2,3,4,5].map(x, x).map(x, x)', { estimate: [162, 162], cost: 162 }],
  ['[1,2,3,4,5].map(x, [x, x]).filter(z, z.size() == 2)', { cost: 232 }],
  ['[1,2,3,4,5].map(x, x)[4]', { estimate: [87, 87] }],
  ['[[1,2],[1,2],[1,2],[1,2],[1,2]][4]', { estimate: [61, 61] }],
  ["{'a': [1,2], 'b': [1,2], 'c': [1,2], 'd': [1,2], 'e': [1,2]}.b", { estimate: [81, 81] }],
  ['[[1, 1], [2, 2], [3, 3], [4, 4], [5, 5]].all(y, y.all(y, y == 1))', { estimate: [76, 136] }],
  ['[1,2,3,4,5].map(x, [x, x]).all(y, y.all(y, y == 1))', { estimate: [157, 217], cost: 171 }],
  [
    '["a", "ab", "abc", "abcd", "abcde"].map(x, [x, x]).all(y, y.all(y, y.startsWith(\'a\')))',
    { estimate: [157, 217] },
  ],
  [
    "input.map(x, [x, x]).all(y, y.all(y, y.startsWith('a')))",
    { types: { input: listOf(text(10), { maxElements: 5 }) }, estimate: [13, 208] },
  ],
  ['[1,2,3,4,5].map(x, x).map(x, x) + [1]', { estimate: [173, 173], cost: 173 }],
  ['[1,2,3].all(i, i in [1,2,3].map(j, j + j))', { estimate: [20, 230], cost: 86 }],
  ['dyn([1,2,3]).all(i, i in dyn([1,2,3]).map(j, j + j))', { estimate: [21, 234] }],
  ["{'hello': 'hi'}['hello'] != {'hello': 'bye'}['hello']", { estimate: [63, 63] }],
  ["['hello', 'hi'][0] != ['hello', 'bye'][1]", { estimate: [23, 23] }],
  ['type(1)', { estimate: [1, 1] }],
  ['type(self.val1)', { ...MAP_OF(INT), estimate: [3, 3] }],
  ['type(self.val1) == int', { ...MAP_OF(INT), estimate: [5, UNBOUNDED] }],
  ['type(1) == int', { estimate: [3, UNBOUNDED] }],
  ['self.val1 == 1.0', { types: { 'self.val1': sized(DOUBLE, 1) }, estimate: [2, 2] }],
  ['self.val1 == 1.0', { ...MAP_OF(DOUBLE), estimate: [3, 3] }],
  [
    "self.val1 == timestamp('2011-08-18T00:00:00.000+01:00') + duration('19h3m37s10ms')",
    { ...MAP_OF(TIMESTAMP), estimate: [6, 6] },
  ],
  [
    "timestamp(self.val1) == timestamp('2011-08-18T00:00:00.000+01:00') + duration('19h3m37s10ms')",
    { ...MAP_OF(TIMESTAMP), estimate: [7, 7] },
  ],
  ['self.val1 != self.val2', { ...MAP_OF(BOOL), estimate: [5, 5] }],
  ['self.val1 != true', { ...MAP_OF(BOOL), estimate: [3, 3] }],
]

const FAR_TOO_MUCH = 2 ** 60

t.test('expressions are estimated to cost what the reference estimates, and cost what they cost there', async (t) => {
  for (const [source, { types = {}, estimate, given = {}, cost }] of FACTS) {
    const program = literalProgram(source, baseEnvironment('stored').extend({ variables: types }))
    if (estimate !== undefined) {
      t.equal(program.estimatedCost.min, estimate[0], `the least of ${source}`)
      if (estimate[1] === UNBOUNDED) t.ok(program.estimatedCost.max > FAR_TOO_MUCH, `no limit for ${source}`)
      else t.equal(program.estimatedCost.max, estimate[1], `the most of ${source}`)
    }
    if (cost !== undefined) t.equal(costOf(program, given), cost, `the cost of ${source}`)
  }
})

t.test('an evaluation that costs more than a million ends with the words of Kubernetes', async (t) => {
  const ten = '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]'
  const source = ['a', 'b', 'c', 'd', 'e', 'f'].reduceRight((body, name) => `${ten}.all(${name}, ${body})`, 'true')
  const { program } = compile(source, baseEnvironment('stored'))
  const budget = { remaining: 10_000_000 }
  t.same(program?.evaluate({}, budget), new EvaluationError('operation cancelled: actual cost limit exceeded'))
  t.ok(budget.remaining < 9_000_000 && budget.remaining > 8_900_000, 'it stops soon after')
})

t.test('what is known before an expression runs costs nothing', async (t) => {
  const environment = baseEnvironment('stored').extend({ variables: { x: STRING, n: INT } })
  const given = { x: 'b', n: 2 }
  for (const [source, cost] of [
    ["x in ['a', 'b']", 1],
    ['n in [1, 2, 3]', 1],
    ['[1, 2, 3].exists(i, i == n)', 18],
    ["duration('1h') < duration('2h')", 1],
    ["{'a': [1, 2]}.size() + int('1')", 2],
    ["[x, 'b'] == [x, 'b']", 23],
  ] as const) {
    const { program, errors } = compile(source, environment)
    t.equal(program === undefined ? errors : costOf(program, given), cost, source)
  }
})

import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { equalBare, sameValue } from '#keelson/api/validation/checks.js'
import { fuzzRounds, fuzzSeed, Random } from '../../support/fuzz.js'

t.test('nothing, empty lists, empty maps and empty texts are the same; what is in a list counts', async (t) => {
  t.ok(sameValue({ a: '', b: [], c: { d: {} } }, undefined))
  t.ok(sameValue({ constructor: 1, a: null }, { constructor: 1 }))
  t.notOk(sameValue({}, { constructor: 1 }))
  t.notOk(sameValue([null], []))
  t.notOk(sameValue('', undefined), 'a text of its own is no member')
  t.notOk(equalBare({ a: {} }, {}, false), 'an empty object was asked for')
  t.ok(equalBare({ a: [] }, { a: null }, false))
})

/** The value without what is nothing, as a copy: what equalBare means, said in another way. */
function bare(value: unknown, dropsEmpty: boolean): unknown {
  if (value === null || value === undefined) return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => bare(item, dropsEmpty))
  if (typeof value !== 'object') return value
  const entries = Object.entries(value)
    .map(([key, item]) => [key, bare(item, dropsEmpty)] as const)
    .filter(([, item]) => item !== undefined && !(dropsEmpty && item === ''))
  return dropsEmpty && entries.length === 0 ? undefined : Object.fromEntries(entries)
}

const SCALARS = [null, undefined, '', 'a', 0, -0, 1, 2n ** 60n, true, Number.NaN]

function anyValue(random: Random, depth: number): unknown {
  const kind = depth === 0 ? 0 : random.below(3)
  if (kind === 0) return random.pick(SCALARS)
  const parts = Array.from({ length: random.below(3) }, () => anyValue(random, depth - 1))
  if (kind === 1) return parts
  return Object.fromEntries(parts.map((part) => [random.pick(['a', 'b', 'toString']), part]))
}

t.test('two values are equal when they are without what is nothing', async (t) => {
  const random = new Random(fuzzSeed())
  let equal = 0
  for (let round = 0; round < fuzzRounds(20_000); round++) {
    const [a, b] = [anyValue(random, 3), anyValue(random, 3)]
    for (const dropsEmpty of [true, false]) {
      const expected = isDeepStrictEqual(bare(a, dropsEmpty), bare(b, dropsEmpty))
      if (expected) equal++
      if (equalBare(a, b, dropsEmpty) !== expected) t.strictSame(a, b, `round ${round}, ${dropsEmpty}: ${expected}`)
    }
  }
  t.ok(equal > 1000, 'many of them are')
})

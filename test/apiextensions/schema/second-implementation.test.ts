/**
 * Random schemas and objects: what the compiled schema keeps, fills in and says is what a slow, simple reading of the rules
 * (second/simple-*.ts) says. Planted differences are found: a compiled schema that overlooks any one keyword.
 */
import t from 'tap'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import { fuzzRounds, fuzzSeed } from '../../support/fuzz.js'
import { playRound } from './second/comparison.js'

const ROUNDS = 10_000
/** Rounds of other seeds do not overlap. */
const SEED_STEP = 100_000_000
/** The rarest keyword decides something in every thousandth round. */
const ROUNDS_TO_FIND = 10_000

t.test('two implementations agree', async (t) => {
  let valid = 0
  const start = fuzzSeed() * SEED_STEP
  const rounds = fuzzRounds(ROUNDS)
  for (let seed = start; seed < start + rounds; seed++) {
    const { difference, isValid } = playRound(seed)
    if (isValid) valid++
    if (difference === undefined) continue
    t.fail(difference)
    return
  }
  t.ok(valid > rounds / 10, `${valid} of ${rounds} objects were valid`)
})

const KEYWORDS = [
  ...['type', 'nullable', 'default', 'enum', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'items', 'minItems', 'maxItems', 'uniqueItems'],
  ...[
    'properties',
    'additionalProperties',
    'required',
    'minProperties',
    'maxProperties',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
  ],
  ...['x-kubernetes-int-or-string', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'],
  ...['x-kubernetes-list-type', 'x-kubernetes-list-map-keys'],
]

for (const keyword of KEYWORDS)
  t.test(`a compiled schema that overlooks ${keyword} is found`, async (t) => {
    const mutate = (schema: JsonSchema): JsonSchema => without(schema, keyword) as JsonSchema
    const start = SEED_STEP / 2
    let seed = start
    while (seed < start + ROUNDS_TO_FIND && playRound(seed, mutate).difference === undefined) seed++
    t.ok(seed < start + ROUNDS_TO_FIND, `after ${seed - start} rounds`)
  })

t.test('a compiled schema that takes one keyword for another is found', async (t) => {
  for (const [one, other] of [
    ['anyOf', 'oneOf'],
    ['anyOf', 'allOf'],
    ['minimum', 'maximum'],
    ['minLength', 'minItems'],
  ] as const) {
    const start = SEED_STEP / 2
    const mutate = (schema: JsonSchema): JsonSchema => renamed(schema, one, other) as JsonSchema
    const found = Array.from({ length: ROUNDS_TO_FIND }, (_, i) => start + i).some(
      (seed) => playRound(seed, mutate).difference !== undefined,
    )
    t.ok(found, `${one} for ${other}`)
  }
})

/** Without the keyword, at any depth. Names of fields are no keywords, and none of those is used as one here. */
function without(value: unknown, keyword: string): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, keyword))
  if (typeof value !== 'object' || value === null) return value
  const rest = Object.entries(value).filter(([name]) => name !== keyword)
  return Object.fromEntries(rest.map(([name, one]) => [name, without(one, keyword)]))
}

function renamed(value: unknown, from: string, to: string): unknown {
  if (Array.isArray(value)) return value.map((one) => renamed(one, from, to))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name === from ? to : name, renamed(one, from, to)]),
  )
}

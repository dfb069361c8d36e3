/** One round: a random schema and value, what both implementations make of them, and in what they differ. */
import { DecodeError } from '#keelson/api/json/decode-error.js'
import { deepCopy, type Json, type JsonObject } from '#keelson/api/object.js'
import { compileSchema } from '#keelson/apiextensions/schema/compile-schema.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import { Random } from '../../../support/fuzz.js'
import { builtin, objectOf } from '../../compiled.js'
import { textOf } from './deep-equal.js'
import { SchemaMaker } from './random-schema.js'
import { ValueMaker } from './random-value.js'
import { coerce, dropNulls, prune, Unreadable, withDefaults } from './simple-admit.js'
import { check, checkStructure } from './simple-validate.js'

const DEPTH = 3
const ORIGINS = ['request', 'request', 'request', 'converted'] as const
type Origin = (typeof ORIGINS)[number]

/** What an implementation says; `refused` when the request cannot be read. */
type Outcome =
  | { readonly spec: string; readonly unknown: readonly string[]; readonly errors: readonly string[] }
  | 'refused'

export interface Round {
  /** In what the two differ: undefined when in nothing. */
  readonly difference: string | undefined
  readonly isValid: boolean
}

/** `mutate` plants a difference: the compiled schema is made of what it returns. */
export function playRound(seed: number, mutate: (schema: JsonSchema) => JsonSchema = (schema) => schema): Round {
  const random = new Random(seed + 1)
  const spec = new SchemaMaker(random).object(DEPTH)
  const value = new ValueMaker(random).of(spec, DEPTH)
  const origin = random.pick(ORIGINS)
  const compiled = byCompiled(mutate(spec), deepCopy(value), origin)
  const simple = bySimple(spec, deepCopy(value), origin)
  const isValid = simple !== 'refused' && simple.errors.length === 0
  if (textOf(compiled as unknown as Json) === textOf(simple as unknown as Json))
    return { difference: undefined, isValid }
  const given = { seed, origin, spec, value, compiled, simple }
  return { difference: JSON.stringify(given, (_, one) => (typeof one === 'bigint' ? `${one}n` : one)), isValid }
}

const sorted = (texts: readonly string[]): string[] => [...new Set(texts)].sort()

function byCompiled(spec: JsonSchema, value: Json, origin: Origin): Outcome {
  const compiled = compileSchema({ type: 'object', properties: { spec } }, { builtin })
  const object = objectOf(value)
  try {
    const { strictErrors } = compiled.admit(object, { origin })
    const { errors } = compiled.validate(object)
    return {
      spec: textOf(object['spec']),
      unknown: sorted(strictErrors),
      errors: sorted(errors.map(({ field, type }) => `${field} ${type}`)),
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return 'refused'
  }
}

function bySimple(spec: JsonSchema, value: Json, origin: Origin): Outcome {
  const whole: JsonSchema = { type: 'object', properties: { spec } }
  const object: JsonObject = { spec: value }
  try {
    const pruned = prune(value, spec, 'spec', false)
    dropNulls(object, whole)
    const unknown = [...pruned, ...coerce(object, whole, '')].map(
      (path) => `unknown field "${path.replace(/^\./, '')}"`,
    )
    const full = origin === 'request' ? (withDefaults(object, whole) as JsonObject) : object
    const found = full['spec']
    const errors =
      found === undefined ? [] : [...check(found, spec, 'spec').errors, ...checkStructure(found, spec, 'spec')]
    return { spec: textOf(found), unknown: origin === 'request' ? sorted(unknown) : [], errors: sorted(errors) }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return 'refused'
  }
}

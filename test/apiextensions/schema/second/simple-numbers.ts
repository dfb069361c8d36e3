/** Numbers against their limits, as Go does it: whole ones as int64, with limits cut to it, others as float64. */
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import { isNearWhole } from './simple-validate.js'

type Numeric = number | bigint

export function numberErrors(
  value: Numeric,
  { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum }: JsonSchema,
  types: readonly string[],
  format: string,
  path: string,
): string[] {
  const type = types.length === 1 ? types[0]! : ''
  const errors: string[] = []
  const fits = (one: Numeric): boolean => isOfType(one, type, format)
  const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value)
  if (!fits(value)) errors.push('<nil> FieldValueInvalid')
  for (const limit of [minimum, maximum, multipleOf])
    if (limit !== undefined && !fits(limit)) errors.push('<nil> FieldValueInvalid')
  const cut = (limit: number): number => (isWhole && fits(limit) ? Math.trunc(limit) : limit)
  const isBelow = minimum !== undefined && (exclusiveMinimum ? value <= cut(minimum) : value < cut(minimum))
  const isAbove = maximum !== undefined && (exclusiveMaximum ? value >= cut(maximum) : value > cut(maximum))
  const isNoMultiple = multipleOf !== undefined && !isMultiple(value, cut(multipleOf), isWhole && fits(multipleOf))
  if (isBelow || isAbove || isNoMultiple) errors.push(`${path} FieldValueInvalid`)
  return errors
}

function isOfType(value: Numeric, type: string, format: string): boolean {
  if (type !== 'integer') return format !== 'float' || Math.abs(Number(value)) < 3.41e38
  if (typeof value === 'number' && !Number.isInteger(value)) return false
  const bits = format === 'int32' ? 31n : 63n
  return BigInt(value) >= -(1n << bits) && BigInt(value) < 1n << bits
}

function isMultiple(value: Numeric, factor: number, isWhole: boolean): boolean {
  if (factor <= 0) return false
  if (isWhole) return BigInt(value) % BigInt(factor) === 0n
  return isNearWhole(factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor)
}

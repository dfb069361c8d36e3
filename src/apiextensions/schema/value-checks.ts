/** Thread: any. The keywords of a schema that speak of one value, made ready to be asked. */
import { isDeepStrictEqual } from 'node:util'
import { type FormatCheck, formatCheck, isKnownFormat } from '../../api/formats/formats.js'
import { goJson } from '../../api/managed-fields/go-json.js'
import type { Json } from '../../api/object.js'
import type { Int64 } from '../../api/scalar-types.js'
import { isSet, type JsonSchema } from './json-schema.js'
import { isInteger, NumberRules } from './number-rules.js'
import { type Pattern, patternOf } from './pattern.js'

export type ValueType = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object'

/** What Kubernetes takes a value for. A number without a fraction is an integer. */
export function valueType(value: Json): ValueType {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'bigint':
      return 'integer'
    case 'number':
      return isInteger(value) ? 'integer' : 'number'
    default:
      if (value === null) return 'null'
      return Array.isArray(value) ? 'array' : 'object'
  }
}

const NONE: readonly string[] = []
/** Large bounds are as good as none to lengths, which are numbers. */
const bound = (value: Int64 | undefined | null): number | undefined => (isSet(value) ? Number(value) : undefined)

export class ValueChecks {
  readonly types: readonly string[]
  /** '' when it means nothing for the type. */
  readonly format: string
  /** Whether every value of the one type is right as far as types go. */
  readonly onlyType: string
  readonly nullable: boolean
  readonly formatCheck: FormatCheck | undefined
  readonly numbers: NumberRules
  readonly minLength: number | undefined
  readonly maxLength: number | undefined
  readonly minItems: number | undefined
  readonly maxItems: number | undefined
  readonly minProperties: number | undefined
  readonly maxProperties: number | undefined
  readonly countsProperties: boolean
  readonly uniqueItems: boolean
  readonly required: readonly string[]
  readonly enum: readonly Json[] | undefined
  /** Fields that have no schema of their own are refused. */
  readonly closed: boolean
  readonly hasAlternatives: boolean
  readonly #enumTexts: ReadonlySet<string> | undefined
  readonly #patternSource: string
  #pattern: Pattern | undefined
  #listedText: string | undefined

  constructor(schema: JsonSchema) {
    const { type = '', format = '', pattern } = schema
    this.types = schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : type ? [type] : NONE
    const known = format !== '' && isKnownFormat(this.types.length === 1 ? this.types[0]! : '', format)
    this.format = known ? format : ''
    this.onlyType = this.types.length === 1 && this.format === '' ? this.types[0]! : ''
    this.nullable = schema.nullable === true
    this.formatCheck = known ? formatCheck(format) : undefined
    this.numbers = new NumberRules(schema, this.types, this.format)
    this.minLength = bound(schema.minLength)
    this.maxLength = bound(schema.maxLength)
    this.minItems = bound(schema.minItems)
    this.maxItems = bound(schema.maxItems)
    this.minProperties = bound(schema.minProperties)
    this.maxProperties = bound(schema.maxProperties)
    this.countsProperties = this.minProperties !== undefined || this.maxProperties !== undefined
    this.uniqueItems = schema.uniqueItems === true
    this.required = schema.required ?? NONE
    this.enum = isSet(schema.enum) && schema.enum.length > 0 ? schema.enum : undefined
    this.#enumTexts = this.enum?.every((one) => typeof one === 'string') ? new Set(this.enum as string[]) : undefined
    this.closed = schema.additionalProperties === false
    this.hasAlternatives = hasAny(schema.allOf) || hasAny(schema.anyOf) || hasAny(schema.oneOf) || isSet(schema.not)
    this.#patternSource = pattern ?? ''
  }

  get pattern(): Pattern | undefined {
    if (this.#patternSource === '') return undefined
    this.#pattern ??= patternOf(this.#patternSource)
    return this.#pattern
  }

  /** What it costs at most to look for a value in the enum: objects are compared part by part. */
  comparisons(value: Json): number {
    if (value === null || (this.#enumTexts !== undefined && typeof value === 'string')) return 0
    return typeof value === 'object' ? this.listedText.length >> 2 : (this.enum?.length ?? 0)
  }

  /** The enum as errors tell it, made once: errors of many values share it. */
  get listedText(): string {
    this.#listedText ??= `supported values: ${(this.enum ?? []).map(quoted).join(', ')}`
    return this.#listedText
  }

  isListed(value: Json): boolean {
    if (this.#enumTexts !== undefined && typeof value === 'string') return this.#enumTexts.has(value)
    return this.enum?.some((one) => isSameValue(one, value)) ?? true
  }
}

const quoted = (listed: Json): string => JSON.stringify(typeof listed === 'string' ? listed : goJson(listed))

const hasAny = (schemas: readonly unknown[] | undefined | null): boolean => isSet(schemas) && schemas.length > 0

/** As Kubernetes compares with what is listed: a fraction is cut where an integer is listed. */
function isSameValue(listed: Json, value: Json): boolean {
  if (typeof value === 'number' && !isInteger(value) && (typeof listed === 'number' || typeof listed === 'bigint'))
    return isInteger(listed) ? BigInt(Math.trunc(value)) === BigInt(listed) : listed === value
  return isDeepStrictEqual(listed, value)
}

/** Thread: any. Formats of names and texts in expressions: `format.dns1123Label().validate('a b').hasValue()`. */
import { formatCheck } from '../../formats/formats.js'
import {
  dnsLabelName,
  dnsSubdomainName,
  isDns1035Label,
  isQualifiedName,
  isValidLabelValue,
} from '../../validation/names.js'
import { REGEX_LENGTH_FACTOR, STRING_TRAVERSAL_FACTOR, scaleRange } from '../cost/estimate.js'
import type { Library } from '../function-declaration.js'
import { type CelType, listOf, opaque, optionalOf, STRING } from '../types.js'
import { Optional } from '../values/optional.js'
import { codePointCount } from '../values/strings.js'
import { Boxed, CelError, type CelValue } from '../values/value.js'
import { goQuote } from './go-numbers.js'
import { declare, method, plain, sizeOrNone } from './overload.js'

const FORMAT = opaque('kubernetes.NamedFormat')

class FormatValue extends Boxed {
  readonly name: string
  /** Why a text is not of the format; empty when it is. */
  readonly reasons: (text: string) => readonly string[]
  /** How long the pattern is that Kubernetes counts with. */
  readonly patternLength: number

  constructor(name: string, patternLength: number, reasons: (text: string) => readonly string[]) {
    super()
    this.name = name
    this.patternLength = patternLength
    this.reasons = reasons
  }

  get type(): CelType {
    return FORMAT
  }

  equals(other: CelValue): boolean | CelError {
    return other instanceof FormatValue ? this.name === other.name : new CelError('no such overload')
  }
}

/** A format of schemas, which gives no reasons of its own. */
const bySchema = (format: string, reason: (text: string) => string): ((text: string) => readonly string[]) => {
  const check = formatCheck(format)
  return (text) => (check?.(text) === false ? [reason(text)] : [])
}

/** A prefix may end in a dash: what follows makes the name whole. */
const prefixOf1035 = (text: string): readonly string[] =>
  isDns1035Label(text.endsWith('-') ? `${text.slice(0, -1)}a` : text)

const FORMATS: ReadonlyMap<string, FormatValue> = new Map([
  ['dns1123Label', new FormatValue('DNS1123Label', 30, (text) => dnsLabelName(text, false))] as const,
  ['dns1123Subdomain', new FormatValue('DNS1123Subdomain', 60, (text) => dnsSubdomainName(text, false))] as const,
  ['dns1035Label', new FormatValue('DNS1035Label', 30, isDns1035Label)] as const,
  ['qualifiedName', new FormatValue('QualifiedName', 60, isQualifiedName)] as const,
  ['dns1123LabelPrefix', new FormatValue('DNS1123LabelPrefix', 30, (text) => dnsLabelName(text, true))] as const,
  [
    'dns1123SubdomainPrefix',
    new FormatValue('DNS1123SubdomainPrefix', 60, (text) => dnsSubdomainName(text, true)),
  ] as const,
  ['dns1035LabelPrefix', new FormatValue('DNS1035LabelPrefix', 30, prefixOf1035)] as const,
  ['labelValue', new FormatValue('LabelValue', 40, isValidLabelValue)] as const,
  [
    'uri',
    new FormatValue(
      'URI',
      1103,
      bySchema('uri', (text) => `parse ${goQuote(text)}: invalid URI for request`),
    ),
  ] as const,
  [
    'uuid',
    new FormatValue(
      'uuid',
      76,
      bySchema('uuid', () => 'does not match the UUID format'),
    ),
  ] as const,
  [
    'byte',
    new FormatValue(
      'byte',
      84,
      bySchema('byte', () => 'invalid base64'),
    ),
  ] as const,
  [
    'date',
    new FormatValue(
      'date',
      97,
      bySchema('date', () => 'invalid date'),
    ),
  ] as const,
  [
    'datetime',
    new FormatValue(
      'datetime',
      97,
      bySchema('datetime', () => 'invalid datetime'),
    ),
  ] as const,
])

function validate(format: FormatValue, text: string): CelValue {
  const reasons = format.reasons(text)
  return reasons.length === 0 ? Optional.NONE : new Optional([...reasons])
}

function named(name: string): CelValue {
  const format = FORMATS.get(name)
  return format === undefined ? Optional.NONE : new Optional(format)
}

/** The length of a pattern that estimates are made with, whichever format it will be. */
const ESTIMATED_LENGTH = 128

export const namedFormats: Library = {
  types: [FORMAT],
  functions: [
    ...[...FORMATS].map(([name, format]) =>
      declare(
        `format.${name}`,
        plain(`format.${name}`, [], FORMAT, () => format),
      ),
    ),
    declare('format.named', plain('format-named', [STRING], optionalOf(FORMAT), named)),
    declare(
      'validate',
      method('format-validate', [FORMAT, STRING], optionalOf(listOf(STRING)), validate, {
        cost: (_result: CelValue, format: FormatValue, text: string) =>
          Math.ceil((1 + codePointCount(text)) * STRING_TRAVERSAL_FACTOR) *
          Math.ceil(format.patternLength * REGEX_LENGTH_FACTOR),
        estimate: (_format, text) => ({
          cost: scaleRange(
            scaleRange(sizeOrNone(text), STRING_TRAVERSAL_FACTOR),
            ESTIMATED_LENGTH * REGEX_LENGTH_FACTOR,
          ),
        }),
      }),
    ),
  ],
}

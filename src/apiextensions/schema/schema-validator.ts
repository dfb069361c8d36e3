/**
 * Thread: any. A value against its schema. The rules and their order are those of the validator that Kubernetes has for custom
 * resources: a wrong type does not end the search for more, of alternatives that all fail the one that got furthest is told,
 * and the same complaint is made once.
 */
import type { FieldError, FieldErrorType } from '../../api/field-error.js'
import { pathText } from '../../api/json/decode.js'
import { goJson } from '../../api/managed-fields/go-json.js'
import type { Json, JsonObject } from '../../api/object.js'
import { isUnchanged, oldField, oldItems } from './correlation.js'
import { isWholeEnough } from './number-rules.js'
import { NOTHING, type SchemaNode } from './schema-node.js'
import { type ValueChecks, type ValueType, valueType } from './value-checks.js'

/** Values held against schemas, comparisons with enums, steps of patterns: some seconds of processor at the very most. */
const MAX_STEPS = 20_000_000
/** A step of a pattern takes 7 ns to 60 ns. */
const PATTERN_STEPS = 16
/** An error takes its texts and its path to make, and each alternative around it copies it. */
const ERROR_STEPS = 4
/** An answer with more of them helps nobody. */
const MAX_ERRORS = 2000
/** Nor does one of many errors that tell a long enum each. In characters; the first is told however long it is. */
const MAX_ERROR_TEXT = 1_000_000

/** What an error has that belongs to the schema, or to no place in the object. */
export const NOWHERE = '<nil>'

export class SchemaValidator {
  #found: FieldError[] = []
  /** All that was found, told or not. */
  #count = 0
  readonly #path: (string | number)[] = []
  /** Where the value stands in its object: '' for the whole object. */
  readonly #root: string
  /** Positive checks, by which Kubernetes chooses among alternatives that fail. */
  #matches = 0
  #steps = MAX_STEPS

  constructor(root = '') {
    this.#root = root
  }

  /** What is wrong with a value; with an old one, only with what changed. */
  validate(node: SchemaNode, value: Json, old: Json | undefined): FieldError[] {
    try {
      this.#value(node, value, old)
    } catch (error) {
      if (!(error instanceof TooManySteps)) throw error
      // What was found so far may be an alternative's own.
      this.#found = []
      this.#addNowhere('the object takes too long to be checked against its schema')
    }
    return withinText(distinct(this.#found))
  }

  #value(node: SchemaNode, value: Json, old: Json | undefined): void {
    const mark = this.#found.length
    const count = this.#count
    this.#plain(node, value, old)
    if (this.#count === count || old === undefined || !isUnchanged(node, value, old)) return
    this.#found.length = mark
    this.#count = count
  }

  #plain(node: SchemaNode, value: Json, old: Json | undefined): void {
    if (--this.#steps < 0) throw new TooManySteps()
    const { checks } = node
    if (value === null) {
      this.#null(checks)
      return
    }
    if (checks.types.length > 0 || checks.format !== '') this.#type(checks, value)
    if (checks.hasAlternatives) this.#alternatives(node, value)
    this.#matches += 2
    if (typeof value === 'string') this.#text(checks, value)
    else if (typeof value === 'number' || typeof value === 'bigint') this.#number(checks, value)
    else if (Array.isArray(value)) this.#list(node, value, old)
    if (checks.enum !== undefined) this.#listed(checks, value)
    this.#matches += 2
    if (typeof value === 'object' && !Array.isArray(value)) this.#object(node, value, old)
  }

  #null(checks: ValueChecks): void {
    if (checks.types.length > 0 && !checks.nullable) this.#wrongType(checks.types.join(','), 'null')
    else this.#matches++
    if (checks.enum !== undefined) this.#listed(checks, null)
  }

  #type(checks: ValueChecks, value: Json): void {
    this.#matches++
    const found = valueType(value)
    if (found === checks.onlyType) {
      this.#matches++
      return
    }
    const wanted = wantedType(checks, value, found)
    if (wanted === undefined) this.#matches++
    else this.#wrongType(wanted.name, wanted.found)
  }

  #text(checks: ValueChecks, text: string): void {
    this.#matches++
    const { minLength, maxLength, pattern, formatCheck } = checks
    if (maxLength !== undefined && text.length > maxLength && runes(text) > maxLength)
      this.#add('FieldValueTooLong', '', `may not be more than ${maxLength} bytes`)
    else if (minLength !== undefined && (text.length < minLength || runes(text) < minLength))
      this.#add('FieldValueInvalid', text, `${this.#name()} in body should be at least ${minLength} chars long`)
    else if (pattern !== undefined && !this.#matchesPattern(pattern, text))
      this.#add('FieldValueInvalid', text, `${this.#name()} in body should match '${pattern.source}'`)
    if (formatCheck === undefined) return
    this.#matches++
    if (!formatCheck(text)) this.#wrongType(checks.format, text)
  }

  #matchesPattern(pattern: NonNullable<ValueChecks['pattern']>, text: string): boolean {
    this.#steps -= Math.floor(pattern.steps(text) / PATTERN_STEPS)
    if (this.#steps < 0) throw new TooManySteps()
    return pattern.matches(text)
  }

  #number({ numbers }: ValueChecks, value: number | bigint): void {
    this.#matches += 2
    for (const { ofValue, badValue, text } of numbers.problems(value)) {
      if (ofValue) this.#add('FieldValueInvalid', badValue, `${this.#name()}${text}`)
      else this.#addNowhere(`${text}${this.#name()}`)
    }
  }

  #list(node: SchemaNode, list: Json[], old: Json | undefined): void {
    this.#matches += 2
    const { items, checks } = node
    if (items !== undefined) {
      const before = old === undefined ? undefined : oldItems(node, old)
      for (let i = 0; i < list.length; i++) {
        const item = list[i]!
        this.#path.push(i)
        this.#value(items, item, before?.get(item))
        this.#path.pop()
      }
    }
    const { minItems, maxItems } = checks
    if (minItems !== undefined && list.length < minItems)
      this.#add('FieldValueInvalid', list.length, `${this.#name()} in body should have at least ${minItems} items`)
    if (maxItems !== undefined && list.length > maxItems)
      this.#add('FieldValueTooMany', list.length, `must have at most ${maxItems} items`)
    if (checks.uniqueItems && hasDuplicates(list))
      this.#add('FieldValueInvalid', '', `${this.#name()} in body shouldn't contain duplicates`)
  }

  #object(node: SchemaNode, object: JsonObject, old: Json | undefined): void {
    this.#matches++
    const { properties, checks } = node
    if (checks.countsProperties) this.#propertyCount(checks, Object.keys(object).length)
    for (const field in object) {
      const child = properties.get(field) ?? (checks.closed ? undefined : node.additional)
      if (child === NOTHING) continue
      if (child !== undefined) this.#field(node, child, field, object[field] as Json, old)
      else if (checks.closed)
        this.#add('FieldValueInvalid', field, `${this.#name()}.${field} in body is a forbidden property`)
    }
    const { required } = checks
    for (let i = 0; i < required.length; i++) if (!Object.hasOwn(object, required[i]!)) this.#missing(required[i]!)
  }

  #propertyCount({ minProperties, maxProperties }: ValueChecks, count: number): void {
    if (minProperties !== undefined && count < minProperties)
      this.#add('FieldValueInvalid', count, `${this.#name()} in body should have at least ${minProperties} properties`)
    if (maxProperties !== undefined && count > maxProperties)
      this.#add('FieldValueTooMany', count, `must have at most ${maxProperties} items`)
  }

  #field(node: SchemaNode, child: SchemaNode, field: string, value: Json, old: Json | undefined): void {
    // Kind and version are what the request made them, in both objects: they say nothing of a change.
    const isTypeField = this.#path.length === 0 && (field === 'apiVersion' || field === 'kind')
    const before = old === undefined || isTypeField ? undefined : oldField(node, field, old)
    this.#path.push(field)
    this.#value(child, value, before)
    this.#path.pop()
  }

  /** Alternatives are held against the whole value: nothing in them is ratcheted. */
  #alternatives({ alternatives }: SchemaNode, value: Json): void {
    const { allOf, anyOf, oneOf, not } = alternatives
    if (anyOf.length > 0) this.#anyOf(anyOf, value)
    if (oneOf.length > 0) this.#oneOf(oneOf, value)
    if (allOf.length > 0) this.#allOf(allOf, value)
    if (not !== undefined && this.#attempt(not, value).errors.length === 0)
      this.#addNowhere(`"${this.#name()}" must not validate the schema (not)`)
  }

  #anyOf(nodes: readonly SchemaNode[], value: Json): void {
    let best: Attempt | undefined
    for (const node of nodes) {
      const attempt = this.#attempt(node, value)
      if (attempt.errors.length === 0) {
        this.#matches += attempt.matches
        return
      }
      if (best === undefined || attempt.matches > best.matches) best = attempt
    }
    this.#addNowhere(`"${this.#name()}" must validate at least one schema (anyOf)`)
    if (best !== undefined) this.#merge(best)
  }

  #oneOf(nodes: readonly SchemaNode[], value: Json): void {
    let best: Attempt | undefined
    let first: Attempt | undefined
    let valid = 0
    for (const node of nodes) {
      const attempt = this.#attempt(node, value)
      if (attempt.errors.length === 0) {
        valid++
        first ??= attempt
      } else if (valid === 0 && (best === undefined || attempt.matches > best.matches)) best = attempt
    }
    if (valid === 1) {
      if (first !== undefined) this.#merge(first)
      return
    }
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
    this.#addNowhere(`"${this.#name()}" must validate one and only one schema (oneOf). ${found}`)
    if (valid === 0 && best !== undefined) this.#merge(best)
  }

  #allOf(nodes: readonly SchemaNode[], value: Json): void {
    let valid = 0
    for (const node of nodes) {
      const attempt = this.#attempt(node, value)
      if (attempt.errors.length === 0) valid++
      this.#merge(attempt)
    }
    if (valid === nodes.length) return
    this.#addNowhere(`"${this.#name()}" must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`)
  }

  #attempt(node: SchemaNode, value: Json): Attempt {
    const [found, count, matches] = [this.#found, this.#count, this.#matches]
    this.#found = []
    this.#plain(node, value, undefined)
    const attempt = { errors: this.#found, matches: this.#matches - matches }
    this.#found = found
    this.#count = count
    this.#matches = matches
    return attempt
  }

  #merge({ errors, matches }: Attempt): void {
    for (const error of errors) this.#push(error)
    this.#matches += matches
  }

  #wrongType(wanted: string, found: string): void {
    this.#add('FieldValueTypeInvalid', found, `${this.#name()} in body must be of type ${wanted}: "${found}"`)
  }

  #listed(checks: ValueChecks, value: Json): void {
    this.#steps -= checks.comparisons(value)
    if (this.#steps < 0) throw new TooManySteps()
    if (!checks.isListed(value)) this.#add('FieldValueNotSupported', value, checks.listedText)
  }

  #missing(field: string): void {
    this.#path.push(field)
    this.#add('FieldValueRequired', '', '')
    this.#path.pop()
  }

  #add(type: FieldErrorType, badValue: unknown, detail: string): void {
    this.#push({ type, field: this.#place(this.#name()), badValue, detail })
  }

  #addNowhere(detail: string): void {
    this.#push({ type: 'FieldValueInvalid', field: this.#place(''), badValue: '', detail })
  }

  #push(error: FieldError): void {
    this.#steps -= ERROR_STEPS
    this.#count++
    if (this.#found.length < MAX_ERRORS) this.#found.push(error)
  }

  /** As messages name the value: from where validation began. */
  #name(): string {
    return pathText(this.#path)
  }

  #place(name: string): string {
    if (this.#root === '') return name === '' ? NOWHERE : name
    return name === '' ? this.#root : `${this.#root}.${name}`
  }
}

interface Attempt {
  readonly errors: readonly FieldError[]
  readonly matches: number
}

class TooManySteps extends Error {}

/** Which type a value should have and what it has; undefined when it is right. */
function wantedType(
  { types, format }: ValueChecks,
  value: Json,
  found: ValueType,
): { readonly name: string; readonly found: string } | undefined {
  const isWhole = typeof value === 'number' && isWholeEnough(value) && types.includes('integer')
  const fits = types.includes(found) || isWhole || (found === 'integer' && types.includes('number'))
  if (format !== '') {
    // A format of strings lets lists pass, too: whoever checks it looks at strings only.
    const isText = found === 'string' || found === 'array'
    if (isText && !types.includes('number') && !types.includes('integer')) return undefined
    if (!isText && !fits && GO_FORMATS[found] !== format) return { name: format, found: GO_FORMATS[found] ?? '' }
  }
  return fits ? undefined : { name: types.join(','), found }
}

/** How Go holds a number. */
const GO_FORMATS: Readonly<Partial<Record<ValueType, string>>> = { integer: 'int64', number: 'float64' }

function distinct(errors: readonly FieldError[]): FieldError[] {
  if (errors.length < 2) return [...errors]
  const seen = new Set<string>()
  return errors.filter(({ type, field, detail }) => {
    const key = `${type}\0${field}\0${detail}`
    return !seen.has(key) && seen.add(key) !== undefined
  })
}

function withinText(errors: FieldError[]): FieldError[] {
  let length = 0
  return errors.filter(({ detail }, i) => {
    length += detail.length
    return i === 0 || length <= MAX_ERROR_TEXT
  })
}

/** Characters as Go counts them: a pair of surrogates is one. */
export function runes(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) !== 0xdc00) count++
  return count
}

const hasDuplicates = (list: readonly Json[]): boolean => new Set(list.map(goJson)).size < list.length

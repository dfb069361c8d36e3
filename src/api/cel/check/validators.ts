/**
 * Thread: any. What is looked at when an expression is right as far as its types go: that literals of lists and maps mix no types,
 * and that literals of patterns, durations, timestamps and formats can be read.
 */
import { CLAUSES, formatVerbs } from '../library/format-string.js'
import { patternOf } from '../library/patterns.js'
import type { SourceError } from '../source-error.js'
import { type Call, children, type Expression, type ListLiteral, type MapLiteral } from '../syntax.js'
import { type CelType, optionalContent, sameType, typeName } from '../types.js'
import { parseDuration, parseTimestamp } from '../values/time-formats.js'
import { Timestamp } from '../values/times.js'
import { runtimeTypeName } from '../values/type-value.js'
import { CelError, type CelValue } from '../values/value.js'
import type { Checked } from './checker.js'

type Typed = Pick<Checked, 'tree' | 'typeOf'>

export function validate({ tree, typeOf }: Typed): readonly SourceError[] {
  const errors: SourceError[] = []
  const visit = (node: Expression, mixes: boolean): void => {
    const mayMix = mixes || (node.kind === 'call' && node.name === FORMAT)
    for (const child of children(node)) visit(child, mayMix)
    if (node.kind === 'list' && !mixes) errors.push(...mixedItems(node, typeOf))
    if (node.kind === 'map' && !mixes) errors.push(...mixedEntries(node, typeOf))
    if (node.kind === 'call') errors.push(...wrongLiteral(node), ...wrongFormat(node, typeOf))
  }
  visit(tree, false)
  return errors
}

/** What it gets, at any depth, may be of several types. */
const FORMAT = 'format'

const contentOf = (type: CelType, optional: boolean): CelType => (optional ? (optionalContent(type) ?? type) : type)

const mismatch = ({ at }: Expression, wanted: CelType, found: CelType): SourceError => ({
  message: `expected type '${typeName(wanted)}' but found '${typeName(found)}'`,
  at,
})

function mixedItems({ items, optional }: ListLiteral, typeOf: Typed['typeOf']): SourceError[] {
  const optionals = new Set(optional)
  const types = items.map((item, i) => contentOf(typeOf(item), optionals.has(i)))
  const other = types.findIndex((type) => !sameType(types[0]!, type))
  return other < 0 ? [] : [mismatch(items[other]!, types[0]!, types[other]!)]
}

function mixedEntries({ entries }: MapLiteral, typeOf: Typed['typeOf']): SourceError[] {
  const typed = entries.map(({ key, value, optional }) => ({
    key,
    value,
    keyType: typeOf(key),
    valueType: contentOf(typeOf(value), optional),
  }))
  const [first] = typed
  return typed.flatMap(({ key, value, keyType, valueType }) => [
    ...(sameType(first!.keyType, keyType) ? [] : [mismatch(key, first!.keyType, keyType)]),
    ...(sameType(first!.valueType, valueType) ? [] : [mismatch(value, first!.valueType, valueType)]),
  ])
}

const isPattern = (text: string): boolean => !(patternOf(text) instanceof CelError)

const isTimestamp = (value: CelValue): boolean =>
  typeof value === 'string'
    ? parseTimestamp(value) !== undefined
    : typeof value === 'number' || typeof value === 'bigint'
      ? Timestamp.of(BigInt(value) * 1_000_000_000n) !== undefined
      : true

/** By function: whether a literal is right as its first argument. That of `matches(text, pattern)` is the text, as in Kubernetes. */
const LITERALS: ReadonlyMap<string, (value: CelValue) => boolean> = new Map([
  ['matches', (value: CelValue) => typeof value !== 'string' || isPattern(value)],
  ['duration', (value: CelValue) => typeof value !== 'string' || parseDuration(value) !== undefined],
  ['timestamp', isTimestamp],
])

function wrongLiteral({ name, args: [argument] }: Call): SourceError[] {
  const test = LITERALS.get(name)
  if (test === undefined || argument?.kind !== 'literal' || test(argument.value)) return []
  return [{ message: `invalid ${name} argument`, at: argument.at }]
}

function wrongFormat({ name, target, args, at }: Call, typeOf: Typed['typeOf']): SourceError[] {
  const [list] = args
  if (name !== FORMAT || target?.kind !== 'literal' || typeof target.value !== 'string') return []
  if (list?.kind !== 'list' || args.length !== 1) return []
  let used = 0
  for (const verb of formatVerbs(target.value, list.items.length)) {
    if (verb instanceof CelError) return [{ message: verb.message, at }]
    const other = unfit(verb, list.items[used]!, typeOf)
    if (other !== undefined) {
      const found = runtimeTypeName(typeOf(other))
      return [{ message: `error during formatting: ${CLAUSES.get(verb)!.limits}, was given ${found}`, at: other.at }]
    }
    used++
  }
  if (list.items.length <= used) return []
  const message = `too many arguments supplied to string.format (expected ${used}, got ${list.items.length})`
  return [{ message, at }]
}

/** The part of an argument that a clause does not take; of `%s`, at any depth of literals. */
function unfit(verb: string, node: Expression, typeOf: Typed['typeOf']): Expression | undefined {
  if (!CLAUSES.get(verb)!.kinds.has(typeOf(node).kind)) return node
  if (verb !== 's' || (node.kind !== 'list' && node.kind !== 'map')) return undefined
  for (const child of children(node)) {
    const found = unfit(verb, child, typeOf)
    if (found !== undefined) return found
  }
  return undefined
}

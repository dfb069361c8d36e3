/** Thread: any. Label selectors: requirements that must all hold. */
import { LabelValues } from './label-values.js'
import type { AttributeSet, Selector } from './selector.js'
import { isQualifiedName, isValidLabelValue } from './validation/names.js'

export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'exists' | '!' | '>' | '<'

/** A selector that cannot be read, or asks for what cannot be; a client gets 400 for it. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError'
}

const INTEGER = /^[+-]?\d+$/
const MAX_INT64 = (1n << 63n) - 1n

function parseInt64(text: string): bigint | undefined {
  if (!INTEGER.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return value > MAX_INT64 || value < -MAX_INT64 - 1n ? undefined : value
}

export class LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  readonly values: LabelValues
  readonly #limit: bigint

  constructor(key: string, operator: LabelOperator, values: readonly string[]) {
    validateKey(key)
    this.key = key
    this.operator = operator
    const sorted = [...new Set(values)].sort()
    this.#limit = checkValues(operator, sorted)
    for (const value of sorted) {
      const reasons = isValidLabelValue(value)
      if (reasons.length > 0)
        throw new SelectorError(`values[0][${key}]: Invalid value: ${JSON.stringify(value)}: ${reasons.join('; ')}`)
    }
    this.values = new LabelValues(sorted)
  }

  matches(labels: AttributeSet): boolean {
    const value = labels.get(this.key)
    switch (this.operator) {
      case 'in':
      case '=':
      case '==':
        return value !== undefined && this.values.has(value)
      case 'notin':
      case '!=':
        return value === undefined || !this.values.has(value)
      case 'exists':
        return value !== undefined
      case '!':
        return value === undefined
      case '>':
      case '<': {
        const number = value === undefined ? undefined : parseInt64(value)
        if (number === undefined) return false
        return this.operator === '>' ? number > this.#limit : number < this.#limit
      }
    }
  }

  toString(): string {
    switch (this.operator) {
      case 'exists':
        return this.key
      case '!':
        return `!${this.key}`
      case 'in':
      case 'notin':
        return `${this.key} ${this.operator} (${this.values})`
      default:
        return `${this.key}${this.operator}${this.values}`
    }
  }
}

export function validateKey(key: string): void {
  const reasons = isQualifiedName(key)
  if (reasons.length > 0) throw new SelectorError(`key: Invalid value: ${JSON.stringify(key)}: ${reasons.join('; ')}`)
}

/** Gives the number that > and < compare with. */
function checkValues(operator: LabelOperator, values: readonly string[]): bigint {
  switch (operator) {
    case 'in':
    case 'notin':
      if (values.length === 0)
        throw new SelectorError("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty")
      return 0n
    case 'exists':
    case '!':
      if (values.length > 0)
        throw new SelectorError('values: Invalid value: values set must be empty for exists and does not exist')
      return 0n
    case '=':
    case '==':
    case '!=':
      if (values.length !== 1)
        throw new SelectorError('values: Invalid value: exact-match compatibility requires one single value')
      return 0n
    case '>':
    case '<': {
      const limit = values.length === 1 ? parseInt64(values[0]!) : undefined
      if (limit === undefined)
        throw new SelectorError(
          `values[0]: Invalid value: ${JSON.stringify(values[0])}: for 'Gt', 'Lt' operators, the value must be an integer`,
        )
      return limit
    }
  }
}

export class LabelSelector implements Selector {
  readonly requirements: readonly LabelRequirement[]

  constructor(requirements: readonly LabelRequirement[]) {
    this.requirements = [...requirements].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  }

  matches(labels: AttributeSet): boolean {
    for (const requirement of this.requirements) if (!requirement.matches(labels)) return false
    return true
  }

  empty(): boolean {
    return this.requirements.length === 0
  }

  requiresExactMatch(name: string): string | undefined {
    for (const { key, operator, values } of this.requirements)
      if (key === name && (operator === '=' || operator === '==' || operator === 'in') && values.size === 1)
        return values.at(0)
    return undefined
  }

  toString(): string {
    return this.requirements.join(',')
  }
}

/** Matches no object: what a LabelSelector that is not there stands for. */
export const nothing: Selector = {
  matches: () => false,
  empty: () => false,
  requiresExactMatch: () => undefined,
  toString: () => '',
}

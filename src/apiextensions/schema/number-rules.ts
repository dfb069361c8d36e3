/**
 * Thread: any. Numbers against what a schema says of them. Kubernetes' validator tells int64 from float64: bounds of an integer
 * are cut to integers, and a bound that does not fit the type is an error of its own with every value. So it is here.
 */
import type { JsonSchema } from './json-schema.js'

type Numeric = number | bigint

export interface NumberProblem {
  /** Of the value; otherwise of what the schema says, which has no place in the object. */
  readonly ofValue: boolean
  readonly badValue: Numeric | ''
  /** Begins after the path: ` should be …`; with it at the end when it is not of the value. */
  readonly text: string
}

const NO_PROBLEMS: readonly NumberProblem[] = []
const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n
const MAX_INT32 = 2 ** 31 - 1
const MAX_FLOAT32 = 3.4028234663852886e38

export const isInteger = (value: Numeric): boolean => typeof value === 'bigint' || Number.isSafeInteger(value)

/** Whether a float is as good as whole to Kubernetes: it looks at nine digits. */
export function isWholeEnough(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  if (Number.isInteger(value)) return true
  if (value < 1) return false
  const whole = Math.trunc(value)
  return (value - whole) / (value + whole) < 1e-9
}

export class NumberRules {
  readonly #type: 'integer' | 'number' | ''
  readonly #format: string
  readonly #schema: JsonSchema
  /** Nothing is said that a number of the right type could be against. */
  readonly #isOpen: boolean

  constructor(schema: JsonSchema, types: readonly string[], format: string) {
    const [only = ''] = types.length === 1 ? types : []
    this.#type = only === 'integer' || only === 'number' ? only : ''
    this.#format = this.#type === '' ? '' : format
    this.#schema = schema
    const { multipleOf, minimum, maximum } = schema
    const bounds = [multipleOf, minimum, maximum].some((bound) => bound !== undefined && bound !== null)
    this.#isOpen = !bounds && this.#format !== 'int32' && this.#format !== 'float'
  }

  /** In Kubernetes' order: the type, multipleOf, minimum, maximum. */
  problems(value: Numeric): readonly NumberProblem[] {
    if (this.#isOpen && (this.#type !== 'integer' || isInteger(value))) return NO_PROBLEMS
    const problems: NumberProblem[] = []
    if (!this.#fits(value)) problems.push(this.#misfit('Checked'))
    const { multipleOf, minimum, maximum } = this.#schema
    if (isGiven(multipleOf)) this.#checkMultiple(value, multipleOf, problems)
    if (isGiven(minimum)) this.#checkBound(value, minimum, this.#schema.exclusiveMinimum === true, false, problems)
    if (isGiven(maximum)) this.#checkBound(value, maximum, this.#schema.exclusiveMaximum === true, true, problems)
    return problems
  }

  #fits(value: Numeric): boolean {
    if (this.#type === 'integer') {
      if (typeof value === 'number' && !Number.isInteger(value)) return false
      if (this.#format === 'int32') return Math.abs(Number(value) + 0.5) < MAX_INT32 + 1
      return value >= MIN_INT64 && value <= MAX_INT64
    }
    return this.#format !== 'float' || Math.abs(Number(value)) <= MAX_FLOAT32
  }

  #misfit(what: string): NumberProblem {
    const format = this.#format === '' ? '(default format)' : `with format ${this.#format}`
    return { ofValue: false, badValue: '', text: `${what} value must be of type ${this.#type} ${format} in ` }
  }

  #checkMultiple(value: Numeric, factor: number, problems: NumberProblem[]): void {
    const fits = this.#fits(factor)
    if (!fits) problems.push(this.#misfit('MultipleOf'))
    const whole = fits && isInteger(value)
    const step = whole ? Math.trunc(factor) : factor
    if (step <= 0)
      problems.push({ ofValue: true, badValue: step, text: ` has a multipleOf that is not positive: ${step}` })
    else if (whole ? BigInt(value) % BigInt(step) !== 0n : !isWholeEnough(quotient(Number(value), step)))
      problems.push({ ofValue: true, badValue: value, text: ` in body should be a multiple of ${step}` })
  }

  #checkBound(value: Numeric, given: number, open: boolean, isMaximum: boolean, problems: NumberProblem[]): void {
    const fits = this.#fits(given)
    if (!fits) problems.push(this.#misfit(isMaximum ? 'Maximum boundary' : 'Minimum boundary'))
    const bound = fits && isInteger(value) ? Math.trunc(given) : given
    const within = isMaximum ? (open ? value < bound : value <= bound) : open ? value > bound : value >= bound
    if (within) return
    const word = isMaximum ? 'less' : 'greater'
    const text = ` in body should be ${word} than ${open ? '' : 'or equal to '}${bound}`
    problems.push({ ofValue: true, badValue: value, text })
  }
}

const isGiven = (bound: number | null | undefined): bound is number => bound !== undefined && bound !== null

const quotient = (value: number, step: number): number => (step < 1 ? (1 / step) * value : value / step)

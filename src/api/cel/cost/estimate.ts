/**
 * Thread: any. Ranges of sizes and of costs, before an expression runs. A size is what `size()` would give: code points,
 * bytes, items, entries. Numbers stand for Kubernetes' 64 bits; whatever would be more is UNBOUNDED.
 */
import type { CelType } from '../types.js'
import type { CelValue } from '../values/value.js'

export const UNBOUNDED = 2 ** 64

/** What a tenth of a character costs, and other factors of CEL. */
export const STRING_TRAVERSAL_FACTOR = 0.1
export const REGEX_LENGTH_FACTOR = 0.25
export const LIST_CREATE_COST = 10
export const MAP_CREATE_COST = 30
export const STRUCT_CREATE_COST = 40

/** From least to most: of a size, or of a cost. */
export interface Range {
  readonly min: number
  readonly max: number
}

export interface CallEstimate {
  readonly cost: Range
  /** Of the result, when it has a size. */
  readonly size?: Range
}

/** A value that a call gets, as far as it is known before the call. */
export interface EstimatedValue {
  readonly type: CelType
  /** Up to UNBOUNDED when nothing is known. */
  readonly size: Range
  /** When the expression says it literally. */
  readonly literal?: CelValue
  /** Of a list: one of its items. */
  readonly items?: EstimatedValue
}

/** The target of a member function is the first of `args`, as in its parameters. */
export type Estimator = (...args: readonly EstimatedValue[]) => CallEstimate | undefined

const bounded = (value: number): number => Math.min(value, UNBOUNDED)

export const exactly = (value: number): Range => ({ min: value, max: value })
export const UNKNOWN_RANGE: Range = { min: 0, max: UNBOUNDED }

export const addRanges = (a: Range, b: Range): Range => ({ min: bounded(a.min + b.min), max: bounded(a.max + b.max) })

export const multiplyRanges = (a: Range, b: Range): Range => ({
  min: bounded(a.min * b.min),
  max: bounded(a.max * b.max),
})

/** Times a factor, rounded up. */
export const scaleRange = (range: Range, factor: number): Range => ({
  min: bounded(Math.ceil(range.min * factor)),
  max: bounded(Math.ceil(range.max * factor)),
})

export const uniteRanges = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) })

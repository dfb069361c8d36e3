/** Thread: any. What a metric is, apart from its values: name, labels, buckets. Plain data, the same in every thread. */
export type FamilyType = 'counter' | 'gauge' | 'histogram'

export interface Family {
  /** The place of the family in the table, by which threads name it to each other. */
  readonly id: number
  readonly name: string
  readonly type: FamilyType
  readonly help: string
  readonly labels: readonly string[]
  /** The upper bounds of a histogram in ascending order, without the infinite one. */
  readonly buckets: readonly number[]
  /** What the values of a gauge in several threads make together. */
  readonly merge: 'sum' | 'max'
}

/**
 * How many cells a series takes: one for a counter or a gauge; for a histogram one a bucket, one for what is above all
 * of them, and one for the sum.
 */
export const cellsOf = (family: Family): number => (family.type === 'histogram' ? family.buckets.length + 2 : 1)

/** Thread: any. What a metric is, apart from its values: name, labels, buckets. Plain data, the same in every thread. */
export type FamilyType = 'counter' | 'gauge' | 'histogram'

export interface Family {
  /** Its place in the table of families: how threads name it to each other. */
  readonly id: number
  readonly name: string
  readonly type: FamilyType
  readonly help: string
  readonly labels: readonly string[]
  /** Of histograms: upper bounds in ascending order, less the infinite one. */
  readonly buckets: readonly number[]
  /** Of gauges: what the values of several threads make together. */
  readonly merge: 'sum' | 'max'
}

/** A counter and a gauge take one cell. A histogram: one a bucket, one for what is above all of them, one for the sum. */
export const cellsOf = (family: Family): number => (family.type === 'histogram' ? family.buckets.length + 2 : 1)

/** Thread: any. How the tables of metrics are written: a family without its id, which families.ts gives. */
import type { Family, FamilyType } from '../family.js'

export type FamilyDefinition = Omit<Family, 'id'>

export const BY_RESOURCE = ['group', 'resource'] as const
export const REQUEST_SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]

const definition = (
  type: FamilyType,
  name: string,
  help: string,
  labels: readonly string[],
  buckets: readonly number[],
): FamilyDefinition => ({ name, type, help, labels, buckets, merge: 'sum' })

export const counter = (name: string, help: string, ...labels: readonly string[]): FamilyDefinition =>
  definition('counter', name, help, labels, [])

export const gauge = (name: string, help: string, ...labels: readonly string[]): FamilyDefinition =>
  definition('gauge', name, help, labels, [])

/** A gauge that says the same in every thread: the largest of them counts, not their sum. */
export const sharedGauge = (name: string, help: string, ...labels: readonly string[]): FamilyDefinition => ({
  ...gauge(name, help, ...labels),
  merge: 'max',
})

export const histogram = (
  name: string,
  help: string,
  buckets: readonly number[],
  ...labels: readonly string[]
): FamilyDefinition => definition('histogram', name, help, labels, buckets)

/** `count` bounds from `start` on, each `factor` times the one before. */
export const exponential = (start: number, factor: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => start * factor ** i)

/** What random schemas and values are made of: few enough that values often meet the limits that schemas have. */
import type { Json } from '#keelson/api/object.js'

export const NAMES = ['a', 'b', 'c', 'constructor'] as const

export const TEXTS = [
  '',
  'a',
  'ab',
  'xyz',
  'abcde',
  'ä',
  '😀',
  '😀😀',
  '2024-02-29',
  '2023-02-29',
  '10.0.0.1',
  '::1',
] as const

/** 0.29 and 0.07 are no multiples of 0.01 to whoever divides; the largest ones are beyond what int64, int32 and float hold. */
export const NUMBERS: readonly (number | bigint)[] = [
  ...[-2, -1, 0, 1, 2, 3, 4, 7],
  ...[0.5, 1.5, 2.5, -1.5, 0.29, 0.07, -0.3, 2.000_000_000_1, 1.999_999_999_9, -2.000_000_000_1],
  ...[2 ** 31 - 1, 2 ** 31, -(2 ** 31), 9_007_199_254_740_993n, 1e20, 3.5e38],
]

/** As JavaScript reads the same pattern; null for what is none. */
export const PATTERNS: Readonly<Record<string, RegExp | null>> = {
  '^a': /^a/u,
  b$: /b$/u,
  '^[a-z]+$': /^[a-z]+$/u,
  '^.{2}$': /^.{2}$/u,
  '^[^a]*$': /^[^a]*$/u,
  '(': null,
}

/** All texts that have the format. */
export const FORMATS: Readonly<Record<string, readonly string[]>> = {
  date: ['2024-02-29'],
  ipv4: ['10.0.0.1'],
  ipv6: ['::1'],
  uuid: [],
}

/** Metadata of embedded objects: as it comes, as it is kept (undefined when it cannot be read), and the fields that are wrong. */
export interface MetadataCase {
  readonly given: Json
  readonly kept: Json | undefined
  readonly unknown?: readonly string[]
  readonly wrong?: readonly string[]
}

export const METADATA: readonly MetadataCase[] = [
  { given: {}, kept: {} },
  { given: null, kept: {} },
  { given: { name: 'abc' }, kept: { name: 'abc' } },
  { given: { name: 'a', bogus: 1 }, kept: { name: 'a' }, unknown: ['bogus'] },
  { given: { name: '..' }, kept: { name: '..' }, wrong: ['name'] },
  { given: { labels: { x: 'y' } }, kept: { labels: { x: 'y' } } },
  { given: { labels: { 'a b': 'y' } }, kept: { labels: { 'a b': 'y' } }, wrong: ['labels'] },
  { given: { labels: { x: 1 } }, kept: undefined },
  { given: { name: 1 }, kept: undefined },
  { given: 'text', kept: undefined },
]

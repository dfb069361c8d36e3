/**
 * Which tests of CEL's suites end otherwise here, and why: each time because Kubernetes (v1.36, cel-go v0.26) has something
 * off, or has it at an older version. A difference belongs to the first reason that names it.
 */
import type { SuiteTest } from './suites.js'

export interface Reason {
  readonly why: string
  /** Whether it names a test that ends otherwise, in this way. */
  readonly names: (test: SuiteTest, difference: string) => boolean
}

const byName = (...names: readonly string[]): Reason['names'] => {
  const all = new Set(names)
  return ({ name }) => all.has(name)
}
const says =
  (pattern: RegExp): Reason['names'] =>
  (test) =>
    pattern.test(JSON.stringify(test.original))
const under =
  (...paths: readonly string[]): Reason['names'] =>
  ({ name }) =>
    paths.some((path) => name.startsWith(path))
const either =
  (...tests: readonly Reason['names'][]): Reason['names'] =>
  (test, difference) =>
    tests.some((one) => one(test, difference))

export const REASONS = {
  depth: {
    why: 'the suite was made with a limit of 32 for nesting; the limit of Kubernetes is 250',
    names: ({ error = '' }) => /recursion limit exceeded: 32|max recursion depth exceeded/.test(error),
  },
  quotedNames: { why: 'Kubernetes does not turn on names in backticks', names: ({ expr }) => expr.includes('`') },
  messages: {
    why: 'values are JSON: there are no protobuf messages, wrappers, enums, extensions',
    names: either(
      says(/TestAllTypes|NestedEnum|google\.protobuf\.|Proto2Message|"wrapper"/),
      under('conformance/enums/', 'conformance/proto2', 'conformance/proto3', 'conformance/dynamic/'),
      under('conformance/wrappers/'),
    ),
  },
  libraries: {
    why: 'Kubernetes does not turn on math, base64, cel.bind, cel.block, and reverse of strings',
    names: either(
      under(
        'conformance/math_ext/',
        'conformance/encoders_ext/',
        'conformance/bindings_ext/',
        'conformance/block_ext/',
      ),
      says(/cel\.bind|k\.reverse\(\)/),
    ),
  },
  containers: {
    why: 'Kubernetes has no container to look names up in',
    names: either(under('conformance/namespace/namespace/'), byName("checking/encode('hello')")),
  },
  undeclared: {
    why: 'the data of the suite does not say what x, y and m are',
    names: ({ name }) => /^comprehensions\/[xym]\./.test(name),
  },
  unchecked: {
    why: 'Kubernetes runs no expression that was not checked: what is undeclared or of a wrong type is refused',
    names: (test, difference) => test.original.disableCheck === true && difference.startsWith('error: ERROR: <input>:'),
  },
  mixed: {
    why: 'Kubernetes refuses literals of lists and maps that mix types',
    names: (_test, difference) => /^error: ERROR: <input>:\d+:\d+: expected type '.*' but found '.*'$/.test(difference),
  },
  formats: {
    why: 'version 2 of the strings library: another text of doubles and of `%e`; no `%d` of doubles; formats are validated behind types',
    names: under('conformance/string_ext/format/', 'conformance/string_ext/format_errors/'),
  },
  reference: {
    why: 'cel-go does not do it either: whole milliseconds of a duration, indexOf from behind the end',
    names: byName(
      'conformance/timestamps/duration_converters/get_milliseconds',
      'conformance/string_ext/value_errors/indexof_out_of_range',
      'conformance/string_ext/value_errors/lastindexof_out_of_range',
    ),
  },
  crossed: {
    why: 'the test alone is made with comparisons between an int and a double, which are left out for all others',
    names: under('checking/1 <', 'checking/1 >', 'checking/lists.filter'),
  },
} as const satisfies Record<string, Reason>

export type ReasonName = keyof typeof REASONS

/** Undefined: nobody has named this difference. */
export const reasonOf = (test: SuiteTest, difference: string): ReasonName | undefined =>
  (Object.keys(REASONS) as ReasonName[]).find((name) => (REASONS[name] as Reason).names(test, difference))

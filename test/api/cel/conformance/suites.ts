/** CEL's own suites, as `@bufbuild/cel-spec` ships them: each test under a name of its own. */
import { tests as checking } from '@bufbuild/cel-spec/testdata/checking.js'
import { tests as comprehension } from '@bufbuild/cel-spec/testdata/comprehension.js'
import { tests as conformance } from '@bufbuild/cel-spec/testdata/conformance.js'
import { tests as parsing } from '@bufbuild/cel-spec/testdata/parsing.js'

export type ProtoJson = Readonly<Record<string, unknown>>

export interface SuiteTest {
  /** `conformance/basic/variables/self_eval_bound_lookup`; where tests have no names, their expression. */
  readonly name: string
  readonly expr: string
  /** What else the test says: value, typeEnv, bindings, … */
  readonly original: ProtoJson
  /** Trees as text, and the type, as the reference implementation has them. */
  readonly ast?: string
  readonly checkedAst?: string
  readonly type?: string
  readonly error?: string
}

interface Suite {
  readonly name: string
  readonly suites?: readonly Suite[]
  readonly tests?: readonly Omit<SuiteTest, 'name' | 'expr'>[]
}

function* flattened(suite: Suite, path: string): Generator<SuiteTest> {
  for (const test of suite.tests ?? []) {
    const expr = String(test.original.expr)
    const name = test.original.name === undefined ? expr.replace(/\s+/g, ' ').trim() : String(test.original.name)
    yield { ...test, expr, name: `${path}/${name}` }
  }
  for (const inner of suite.suites ?? []) yield* flattened(inner, `${path}/${inner.name}`)
}

/** A test that has the name of an earlier one gets a number. */
function named(suite: Suite): readonly SuiteTest[] {
  const seen = new Map<string, number>()
  return [...flattened(suite, suite.name)].map((test) => {
    const count = (seen.get(test.name) ?? 0) + 1
    seen.set(test.name, count)
    return count === 1 ? test : { ...test, name: `${test.name} (${count})` }
  })
}

export const SUITES = {
  parsing: named(parsing as Suite),
  checking: named(checking as Suite),
  comprehensions: named(comprehension as Suite),
  conformance: named(conformance as Suite),
}

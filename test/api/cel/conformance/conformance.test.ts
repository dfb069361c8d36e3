/**
 * CEL's own suites: trees, types and values are those of the reference implementation, but for what known-differences.ts
 * names. How many tests differ for which reason is held: one that passes, or fails, anew is a failure here.
 */
import t from 'tap'
import { REASONS, type ReasonName, reasonOf } from './known-differences.js'
import { checkOutcome, comprehensionOutcome, type Outcome, treeOutcome, valueOutcome } from './outcomes.js'
import { SUITES, type SuiteTest } from './suites.js'

/** Expressions of the suite of two variables that must fail: those of its tests of errors. */
const REFUSED: ReadonlySet<string> = new Set(
  SUITES.comprehensions
    .filter(({ expr }) =>
      [
        /^\[\]\.all\((?:i, i|__result__|j, __|i\.j|j, i\.k)/,
        /^1\.all|^''\.exists/,
        /\.exists(?:_one|One)?\((?:i\.j|j, i\.k)/,
        /\.transform\w+\((?:i\.j|j, i\.k)/,
        /'bad filter'|\[v\] : v|transformMapEntry\(k, v, \[\]\)|^\[1, 1\]|i \/ 2\.0/,
      ].some((pattern) => pattern.test(expr)),
    )
    .map(({ name }) => name),
)

interface Step {
  readonly title: string
  readonly tests: readonly SuiteTest[]
  readonly outcome: (test: SuiteTest) => Outcome
  /** How many tests there are, and how many of them differ, by reason. */
  readonly count: number
  readonly differences: Readonly<Partial<Record<ReasonName, number>>>
}

const STEPS: readonly Step[] = [
  { title: 'parsing: trees', tests: SUITES.parsing, outcome: treeOutcome, count: 194, differences: { depth: 8 } },
  { title: 'checking: trees', tests: SUITES.checking, outcome: treeOutcome, count: 135, differences: {} },
  {
    title: 'checking: types and overloads',
    tests: SUITES.checking,
    outcome: checkOutcome,
    count: 135,
    differences: { messages: 40, containers: 1, crossed: 1 },
  },
  { title: 'comprehensions: trees', tests: SUITES.comprehensions, outcome: treeOutcome, count: 92, differences: {} },
  {
    title: 'comprehensions: values',
    tests: SUITES.comprehensions,
    outcome: (test) => comprehensionOutcome(test, REFUSED),
    count: 92,
    differences: { libraries: 12, undeclared: 13, mixed: 3 },
  },
  {
    title: 'conformance: trees',
    tests: SUITES.conformance,
    outcome: treeOutcome,
    count: 2344,
    differences: { depth: 1 },
  },
  {
    title: 'conformance: types and overloads',
    tests: SUITES.conformance,
    outcome: checkOutcome,
    count: 2344,
    differences: { depth: 1, messages: 604, libraries: 222, containers: 2, formats: 13 },
  },
  {
    title: 'conformance: values',
    tests: SUITES.conformance,
    outcome: valueOutcome,
    count: 2344,
    differences: {
      quotedNames: 28,
      messages: 622,
      libraries: 216,
      containers: 2,
      unchecked: 29,
      mixed: 44,
      formats: 17,
      reference: 2,
    },
  },
]

for (const { title, tests, outcome, count, differences } of STEPS)
  t.test(title, async (t) => {
    const found: Partial<Record<ReasonName, number>> = {}
    const unnamed: string[] = []
    for (const test of tests) {
      const difference = outcome(test)
      if (difference === undefined) continue
      const reason = reasonOf(test, difference)
      if (reason === undefined) unnamed.push(`${test.name}: ${difference}`)
      else found[reason] = (found[reason] ?? 0) + 1
    }
    t.equal(tests.length, count)
    t.same(unnamed, [], 'every difference has a reason')
    t.same(found, differences)
  })

t.test('every reason is needed', async (t) => {
  const used = new Set(STEPS.flatMap(({ differences }) => Object.keys(differences)))
  t.same([...used].sort(), Object.keys(REASONS).sort())
})

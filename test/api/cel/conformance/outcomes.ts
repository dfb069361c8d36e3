/** How a test of CEL's suites ends here: undefined when it passes, otherwise what is different. */
import { check } from '#keelson/api/cel/check/checker.js'
import { baseEnvironment, Environment } from '#keelson/api/cel/environment.js'
import { LIBRARIES } from '#keelson/api/cel/library/libraries.js'
import { type Parsed, parse } from '#keelson/api/cel/parse/parser.js'
import { OPTIONAL_MACROS, STANDARD_MACROS } from '#keelson/api/cel/parse/standard-macros.js'
import { compile, EvaluationError } from '#keelson/api/cel/program.js'
import { typeName } from '#keelson/api/cel/types.js'
import type { CelValue } from '#keelson/api/cel/values/value.js'
import { declarations, isSameValue, protoType, protoValue, Unsupported } from './proto-values.js'
import type { ProtoJson, SuiteTest } from './suites.js'
import { checkedText, plainText } from './tree-text.js'

export type Outcome = string | undefined

/** The suites' trees are those of the language without extensions. */
const parsed = (expr: string): Parsed => parse(expr, { macros: STANDARD_MACROS, optionals: false })

/** Whether the tree is that of the reference implementation, or both refuse the expression. */
export function treeOutcome({ expr, ast }: SuiteTest): Outcome {
  const result = parsed(expr)
  if ('errors' in result) return ast === undefined ? undefined : `refused: ${result.errors[0]!.message}`
  if (ast === undefined) return 'not refused'
  const text = plainText(result.tree)
  return text === ast ? undefined : `tree: ${text}`
}

const typeEnv = ({ original }: SuiteTest): readonly ProtoJson[] => (original.typeEnv ?? []) as ProtoJson[]

const environmentOf = (test: SuiteTest): Environment => baseEnvironment('stored').extend(declarations(typeEnv(test)))

/** Comparisons of an int with a double, say, which the suites' reference was checked without. */
const CROSSED = /_(?:int64|uint64|double)_(?:int64|uint64|double)$/

/** The environment whose types the suites have: functions as here, without what Kubernetes adds to comparisons. */
const STANDARD = Environment.EMPTY.extend({
  libraries: LIBRARIES.map(({ library }) => ({
    ...library,
    functions: library.functions.map(({ name, overloads }) => ({
      name,
      overloads: overloads.filter(({ id }) => !CROSSED.test(id)),
    })),
  })),
})

const variable = (name: string, type: ProtoJson): ProtoJson => ({ name, ident: { type } })
const giving = (name: string, overloadId: string, isInstanceFunction: boolean): ProtoJson => ({
  name,
  function: {
    overloads: [
      {
        overloadId,
        params: isInstanceFunction ? [{ primitive: 'STRING' }] : [],
        resultType: { primitive: 'STRING' },
        isInstanceFunction,
      },
    ],
  },
})

/** What the suite of the checker takes for declared without saying so. */
const GIVEN: readonly ProtoJson[] = [
  variable('is', { primitive: 'STRING' }),
  variable('ii', { primitive: 'INT64' }),
  variable('iu', { primitive: 'UINT64' }),
  variable('iz', { primitive: 'BOOL' }),
  variable('ib', { primitive: 'BYTES' }),
  variable('id', { primitive: 'DOUBLE' }),
  variable('ix', { null: null }),
  giving('fg_s', 'fg_s_0', false),
  giving('fi_s_s', 'fi_s_s_0', true),
]

/** Whether types and overloads of all parts are those of the reference implementation, or both refuse the expression. */
export function checkOutcome(test: SuiteTest): Outcome {
  return supported(() => {
    const result = parse(test.expr, { macros: [...STANDARD_MACROS, ...OPTIONAL_MACROS], optionals: false })
    if ('errors' in result) return test.checkedAst === undefined ? undefined : `refused: ${result.errors[0]!.message}`
    const checked = check(result.tree, STANDARD.extend(declarations([...GIVEN, ...typeEnv(test)])))
    if (checked.errors.length > 0)
      return test.checkedAst === undefined ? undefined : `refused: ${checked.errors[0]!.message}`
    if (test.checkedAst === undefined) return 'not refused'
    const text = checkedText(checked)
    return text === test.checkedAst ? undefined : `checked tree: ${text}`
  })
}

function supported(run: () => Outcome): Outcome {
  try {
    return run()
  } catch (error) {
    if (error instanceof Unsupported) return `unsupported: ${error.message}`
    throw error
  }
}

type Evaluation = { readonly value: CelValue } | { readonly error: string }

function evaluated(test: SuiteTest): Evaluation {
  const { program, errors } = compile(test.expr, environmentOf(test))
  if (errors !== undefined) return { error: errors.split('\n', 1)[0]! }
  const bindings = Object.entries((test.original.bindings ?? {}) as Record<string, ProtoJson>)
  const activation = Object.fromEntries(
    bindings.map(([name, binding]) => [name, protoValue(binding.value as ProtoJson)]),
  )
  const value = program.evaluate(activation)
  return value instanceof EvaluationError ? { error: value.message } : { value }
}

/** Whether an expression gives the value, the type or the error that the test wants. */
export function valueOutcome(test: SuiteTest): Outcome {
  return supported(() => {
    const { value, evalError, typedResult, checkOnly } = test.original as Readonly<
      Record<string, ProtoJson | undefined>
    >
    if (typedResult?.deducedType !== undefined) {
      const wrong = typeOutcome(test, typedResult.deducedType as ProtoJson)
      if (wrong !== undefined || checkOnly !== undefined) return wrong
    }
    const result = evaluated(test)
    if (evalError !== undefined) return 'error' in result ? undefined : `a value: ${String(result.value)}`
    if ('error' in result) return `error: ${result.error}`
    const wanted = protoValue(value ?? (typedResult?.result as ProtoJson | undefined) ?? { boolValue: true })
    return isSameValue(result.value, wanted) ? undefined : `another value: ${String(result.value)}`
  })
}

function typeOutcome(test: SuiteTest, wanted: ProtoJson): Outcome {
  const { program, errors } = compile(test.expr, environmentOf(test))
  if (errors !== undefined) return `error: ${errors.split('\n', 1)[0]!}`
  const [found, name] = [typeName(program.type), typeName(protoType(wanted))]
  return found === name ? undefined : `type: ${found}, not ${name}`
}

/**
 * Tests of macros with two variables have no values: what is a bool must be true, everything else must give a value.
 * `refused` are those that must fail.
 */
export function comprehensionOutcome(test: SuiteTest, refused: ReadonlySet<string>): Outcome {
  const result = evaluated(test)
  if (refused.has(test.name)) return 'error' in result ? undefined : 'not refused'
  if ('error' in result) return `error: ${result.error}`
  return result.value === false ? 'false' : undefined
}

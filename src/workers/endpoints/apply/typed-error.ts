/** Thread: any. An object that does not fit its type, as far as apply must know: where, and what is wrong. */

export interface TypedProblem {
  /** The place of the value: `.spec.containers[name="a"]`. */
  readonly path: string
  readonly message: string
}

export class TypedError extends Error {
  override readonly name = 'TypedError'
  readonly problems: readonly TypedProblem[]

  constructor(problems: readonly TypedProblem[]) {
    super(describe(problems))
    this.problems = problems
  }
}

function describe(problems: readonly TypedProblem[]): string {
  const told = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return told.length === 1 ? told[0]! : ['errors:', ...told.map((line) => `  ${line}`)].join('\n')
}

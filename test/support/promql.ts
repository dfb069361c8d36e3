/**
 * Reads expressions of PromQL as far as alerts and dashboards use it: selectors, ranges, offsets, functions, aggregations,
 * binary operators. Says which metrics and labels an expression names, or why it is none.
 */
export interface NamedMetric {
  readonly name: string
  readonly labels: readonly string[]
}

export interface PromQl {
  readonly metrics: readonly NamedMetric[]
  /** Of `by`, `without`, `on`, `ignoring`. */
  readonly grouping: readonly string[]
}

const TOKEN =
  /\s*(?:(?<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])|Inf|NaN)|(?<duration>(?:\d+(?:ms|[smhdwy]))+)|(?<name>[a-zA-Z_:][\w:]*)|(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<sign>=~|!~|==|!=|<=|>=|[-+*/%^(){}[\],:<>=]))/y
const BINARY = new Set(['+', '-', '*', '/', '%', '^', '==', '!=', '<', '>', '<=', '>=', 'and', 'or', 'unless'])
const AGGREGATIONS = new Set('sum min max avg group stddev stdvar count count_values bottomk topk quantile'.split(' '))
const FUNCTIONS = new Set(
  'abs absent absent_over_time avg_over_time ceil changes clamp clamp_max clamp_min delta deriv floor histogram_quantile increase irate label_replace last_over_time max_over_time min_over_time rate resets round scalar sort sort_desc sum_over_time time timestamp vector'.split(
    ' ',
  ),
)

interface Token {
  readonly kind: string
  readonly text: string
}

export function tokens(text: string): Token[] {
  const found: Token[] = []
  const end = text.trimEnd().length
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex
    const groups = TOKEN.exec(text)?.groups
    if (groups === undefined)
      throw new SyntaxError(`nothing PromQL knows at ${JSON.stringify(text.slice(at, at + 20))}`)
    const [kind, word] = Object.entries(groups).find(([, value]) => value !== undefined)!
    found.push({ kind, text: word })
  }
  return found
}

/** Throws SyntaxError. */
export function parsePromQl(text: string): PromQl {
  const all = tokens(text)
  const metrics: NamedMetric[] = []
  const grouping: string[] = []
  let next = 0
  const peek = (): Token | undefined => all[next]
  function fail(wanted: string): never {
    throw new SyntaxError(`${wanted} wanted, not ${peek()?.text ?? 'the end'}, in ${text}`)
  }
  const is = (word: string): boolean => peek()?.text === word && peek()?.kind !== 'text'
  const take = (word: string): boolean => {
    if (!is(word)) return false
    next++
    return true
  }
  const expect = (word: string): void => {
    if (!take(word)) fail(word)
  }
  const kind = (wanted: string): string => (peek()?.kind === wanted ? all[next++]!.text : fail(`a ${wanted}`))
  const labelList = (): void => {
    expect('(')
    while (!take(')')) {
      grouping.push(kind('name'))
      if (!is(')')) expect(',')
    }
  }
  const groupingClause = (): void => {
    while (take('by') || take('without')) labelList()
  }
  const args = (): void => {
    expect('(')
    if (take(')')) return
    do expression()
    while (take(','))
    expect(')')
  }
  const matchers = (): string[] => {
    const labels: string[] = []
    if (!take('{')) return labels
    while (!take('}')) {
      labels.push(kind('name'))
      if (!['=', '!=', '=~', '!~'].some(take)) fail('a comparison of a label')
      const pattern = kind('text')
      new RegExp(pattern.slice(1, -1))
      if (!is('}')) expect(',')
    }
    return labels
  }
  const primary = (): void => {
    const token = peek() ?? fail('an expression')
    if (token.kind === 'number' || token.kind === 'text') next++
    else if (take('(')) {
      expression()
      expect(')')
    } else if (token.kind === 'name') {
      next++
      if (AGGREGATIONS.has(token.text)) {
        groupingClause()
        args()
        groupingClause()
      } else if (is('(')) {
        if (!FUNCTIONS.has(token.text)) throw new SyntaxError(`${token.text} is no function of PromQL`)
        args()
      } else metrics.push({ name: token.text, labels: matchers() })
    } else fail('an expression')
  }
  const unary = (): void => {
    while (take('-') || take('+'));
    primary()
    for (;;) {
      if (take('[')) {
        kind('duration')
        if (take(':') && !is(']')) kind('duration')
        expect(']')
      } else if (take('offset')) kind('duration')
      else return
    }
  }
  function expression(): void {
    unary()
    while (peek() !== undefined && peek()!.kind !== 'text' && BINARY.has(peek()!.text)) {
      next++
      take('bool')
      while (take('on') || take('ignoring')) labelList()
      if (take('group_left') || take('group_right')) if (is('(')) labelList()
      unary()
    }
  }
  expression()
  if (peek() !== undefined) fail('the end')
  return { metrics, grouping }
}

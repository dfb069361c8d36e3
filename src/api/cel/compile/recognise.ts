/** Thread: any. Which macro a comprehension was, so that its loop need not be taken literally. */
import { ACCUMULATOR, type Comprehension, type Expression } from '../syntax.js'

export type KnownMacro =
  | { readonly kind: 'all' | 'exists'; readonly body: Expression }
  | { readonly kind: 'collect'; readonly test: Expression | undefined; readonly item: Expression }

const isAccumulator = (node: Expression | undefined): boolean =>
  node?.kind === 'identifier' && node.name === ACCUMULATOR

/** By its parts; undefined when it is none of those that are known. */
export function recognise({ init, step, result }: Comprehension): KnownMacro | undefined {
  if (!isAccumulator(result) || step.kind !== 'call') return undefined
  if (init.kind === 'literal' && isAccumulator(step.args[0])) {
    if (init.value === true && step.name === '_&&_') return { kind: 'all', body: step.args[1]! }
    return init.value === false && step.name === '_||_' ? { kind: 'exists', body: step.args[1]! } : undefined
  }
  if (init.kind !== 'list' || init.items.length > 0) return undefined
  const filtered = step.name === '_?_:_' && isAccumulator(step.args[2])
  const added = filtered ? step.args[1]! : step
  if (added.kind !== 'call' || added.name !== '_+_' || !isAccumulator(added.args[0])) return undefined
  const list = added.args[1]!
  if (list.kind !== 'list' || list.items.length !== 1 || list.optional.length > 0) return undefined
  return { kind: 'collect', test: filtered ? step.args[0] : undefined, item: list.items[0]! }
}

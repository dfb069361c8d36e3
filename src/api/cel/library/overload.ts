/** Thread: any. Short words for declaring functions, and the costs that many of them share. */
import { type EstimatedValue, exactly, type Range, STRING_TRAVERSAL_FACTOR, scaleRange } from '../cost/estimate.js'
import type { FunctionDeclaration, Overload } from '../function-declaration.js'
import type { CelType } from '../types.js'
import { traversalCost } from '../values/strings.js'
import type { CelValue } from '../values/value.js'

export type Costs = Pick<Overload, 'cost' | 'estimate' | 'prepare'>

/** It takes what the parameters of its overload say, and is called with nothing else. */
export type Implementation = (...args: never[]) => CelValue

/** `name(a, b)` */
export const plain = (
  id: string,
  parameters: readonly CelType[],
  result: CelType,
  call: Implementation,
  costs: Costs = {},
): Overload => ({ id, parameters, result, call: call as Overload['call'], ...costs })

/** `a.name(b)` */
export const method = (
  id: string,
  parameters: readonly CelType[],
  result: CelType,
  call: Implementation,
  costs: Costs = {},
): Overload => ({ ...plain(id, parameters, result, call, costs), member: true })

export const declare = (name: string, ...overloads: readonly Overload[]): FunctionDeclaration => ({ name, overloads })

export const sizeOrNone = (value: EstimatedValue | undefined): Range => value?.size ?? exactly(0)

/** The first argument is a string that is walked over `times` times. */
export const walks = (times = 1): Costs => ({
  cost: (_result: CelValue, text: string) =>
    times === 1 ? traversalCost(text) : Math.ceil(codePoints(text) * times * STRING_TRAVERSAL_FACTOR),
  estimate: (text) => ({ cost: scaleRange(sizeOrNone(text), times * STRING_TRAVERSAL_FACTOR) }),
})

/** The same, and the result is as long as what was walked over. */
export const WALKS_AND_COPIES: Costs = {
  ...walks(),
  estimate: (text) => ({ cost: scaleRange(sizeOrNone(text), STRING_TRAVERSAL_FACTOR), size: sizeOrNone(text) }),
}

const codePoints = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

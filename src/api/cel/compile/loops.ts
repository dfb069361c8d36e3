/** Thread: any. Closures of comprehensions. Costs are checked with each item, so that no loop runs past the limit. */
import { LIST_CREATE_COST } from '../cost/estimate.js'
import { isList, listItems } from '../values/lists.js'
import { isMap, mapGet, mapKeys, STEPS_A_KEY } from '../values/maps.js'
import { CelError, type CelValue } from '../values/value.js'
import { type Closure, COST_LIMIT_EXCEEDED, type Frame, NO_OVERLOAD } from './frame.js'

/** What a loop walks over, and the slot of its variable. */
export interface Walk {
  /** Gives JSON as it stands where there is some: variables are read by their types. */
  readonly range: Closure
  readonly variable: number
}

/** The parts of a comprehension that is taken literally. */
export interface Loop {
  readonly variable2: number | undefined
  readonly accumulator: number
  readonly init: Closure
  readonly condition: Closure
  readonly step: Closure
  readonly result: Closure
}

/** What is walked over: items, or keys. All keys are listed, also for a walk that ends with the first one. */
function walked(range: CelValue, frame: Frame): readonly CelValue[] | CelError {
  if (Array.isArray(range)) return range as readonly CelValue[]
  if (isList(range)) return listItems(range)
  if (!isMap(range)) return range instanceof CelError ? range : NO_OVERLOAD
  const keys = mapKeys(range)
  frame.spend(STEPS_A_KEY * keys.length)
  return keys
}

export function loopClosure(walk: Walk, loop: Loop): Closure {
  const { range } = walk
  const { init, condition, step, result, accumulator } = loop
  return (frame) => {
    const over = range(frame)
    const items = walked(over, frame)
    if (items instanceof CelError) return items
    const { slots } = frame
    const outer = slots[accumulator]!
    slots[accumulator] = init(frame)
    for (let i = 0; i < items.length; i++) {
      bind(frame, walk.variable, loop.variable2, over, items, i)
      if (condition(frame) !== true) break
      slots[accumulator] = step(frame)
      if (frame.isExhausted) return COST_LIMIT_EXCEEDED
    }
    const value = result(frame)
    slots[accumulator] = outer
    return value
  }
}

function bind(
  { slots }: Frame,
  variable: number,
  variable2: number | undefined,
  over: CelValue,
  items: readonly CelValue[],
  i: number,
): void {
  if (variable2 === undefined) slots[variable] = items[i]!
  else if (isMap(over)) {
    slots[variable] = items[i]!
    slots[variable2] = mapGet(over, items[i]!)!
  } else {
    slots[variable] = i
    slots[variable2] = items[i]!
  }
}

/** `all` stops at the first false, `exists` at the first true; costs are those of the loop that it stands for. */
export function quantifierClosure({ range, variable }: Walk, kind: 'all' | 'exists', body: Closure): Closure {
  const decisive = kind === 'exists'
  const conditionCost = kind === 'all' ? 2 : 3
  return (frame) => {
    const over = range(frame)
    const items = walked(over, frame)
    if (items instanceof CelError) return items
    const { slots } = frame
    let pending: CelValue = !decisive
    frame.cost++
    for (let i = 0; i < items.length; i++) {
      slots[variable] = items[i]!
      frame.cost += conditionCost + 1
      const value = body(frame)
      if (value === decisive) {
        if (i + 1 < items.length) frame.cost += conditionCost
        return decisive
      }
      if (value === !decisive) {
        if (frame.isExhausted) return COST_LIMIT_EXCEEDED
        continue
      }
      if (!(pending instanceof CelError)) pending = value instanceof CelError ? value : NO_OVERLOAD
      if (frame.isExhausted) return COST_LIMIT_EXCEEDED
    }
    return pending
  }
}

/** Of one item: reading the list so far, making one of the item, and adding it. */
const COLLECT_COST = 1 + LIST_CREATE_COST + 1

/** `map` and `filter`: items are pushed, where the loop that it stands for makes a list after the other. */
export function collectorClosure(
  { range, variable }: Walk,
  { init, test, item }: { readonly init: Closure; readonly test: Closure | undefined; readonly item: Closure },
): Closure {
  return (frame) => {
    const over = range(frame)
    const items = walked(over, frame)
    if (items instanceof CelError) return items
    const { slots } = frame
    const made: CelValue[] = []
    init(frame)
    frame.cost++
    for (const one of items) {
      slots[variable] = one
      const chosen = test === undefined ? true : test(frame)
      if (chosen === true) {
        const value = item(frame)
        if (value instanceof CelError) return value
        made.push(value)
        frame.cost += COLLECT_COST
      } else if (chosen !== false) return chosen instanceof CelError ? chosen : NO_OVERLOAD
      if (frame.isExhausted) return COST_LIMIT_EXCEEDED
    }
    return made
  }
}

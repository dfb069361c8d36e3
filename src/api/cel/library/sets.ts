/** Thread: any. Lists as sets: one holds all of the other, some of it, or the same. */
import {
  addRanges,
  type CallEstimate,
  type EstimatedValue,
  exactly,
  multiplyRanges,
  scaleRange,
} from '../cost/estimate.js'
import type { Library } from '../function-declaration.js'
import { BOOL, listOf, parameter } from '../types.js'
import { equalValues } from '../values/equality.js'
import { type CelList, listItems, listSize } from '../values/lists.js'
import type { CelValue, Meter } from '../values/value.js'
import { type Costs, declare, plain, sizeOrNone } from './overload.js'

type Test = (a: CelList, b: CelList, c: CelValue, d: CelValue, meter: Meter) => boolean

/** Costs count every item with every other, the steps count what is compared: a limit hit ends long before the last one. */
function has(list: CelList, item: CelValue, meter: Meter): boolean {
  meter.spend(listSize(list))
  return listItems(list).some((one) => equalValues(one, item, meter) === true)
}

const contains: Test = (list, part, _c, _d, meter) => listItems(part).every((item) => has(list, item, meter))
const intersects: Test = (a, b, _c, _d, meter) => listItems(a).some((item) => has(b, item, meter))
const equivalent: Test = (a, b, c, d, meter) => contains(a, b, c, d, meter) && contains(b, a, c, d, meter)

/** Every item with every other, `times` times. */
const compares = (times: number): Costs => ({
  cost: (_result: CelValue, a: CelList, b: CelList) => 1 + listSize(a) * listSize(b) * times,
  estimate: (a?: EstimatedValue, b?: EstimatedValue): CallEstimate => ({
    cost: addRanges(scaleRange(multiplyRanges(sizeOrNone(a), sizeOrNone(b)), times), exactly(1)),
  }),
})

const LIST = listOf(parameter('T'))

export const sets: Library = {
  functions: [
    declare('sets.contains', plain('list_sets_contains_list', [LIST, LIST], BOOL, contains, compares(1))),
    declare('sets.equivalent', plain('list_sets_equivalent_list', [LIST, LIST], BOOL, equivalent, compares(2))),
    declare('sets.intersects', plain('list_sets_intersects_list', [LIST, LIST], BOOL, intersects, compares(1))),
  ],
}

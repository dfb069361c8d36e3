/**
 * Thread: any. Two lists as one. Adding lists costs one step, however long they are, so it takes one step too: short ones are
 * copied, long ones are kept side by side until somebody walks over them.
 */
import { MAX_LIST_SIZE } from '../limits.js'
import { type CelType, DYN, listOf } from '../types.js'
import { type CelList, listItem, listItems, listSize } from './lists.js'
import { CelError, type CelValue, ListValue, type Meter } from './value.js'

const LIST = listOf(DYN)
/** Lists up to this size are copied. */
const COPIED = 64

class Concatenation extends ListValue {
  readonly size: number
  #first: CelList
  #second: CelList
  readonly #meter: Meter

  constructor(first: CelList, second: CelList, meter: Meter) {
    super()
    this.size = listSize(first) + listSize(second)
    this.#first = first
    this.#second = second
    this.#meter = meter
  }

  get type(): CelType {
    return LIST
  }

  at(index: number): CelValue {
    let list: CelList = this
    let at = index
    while (list instanceof Concatenation) {
      const before: number = listSize(list.#first)
      this.#meter.spend(1)
      if (at < before) list = list.#first
      else {
        at -= before
        list = list.#second
      }
    }
    return listItem(list, at)
  }

  /** Without recursion: a loop may have added a thousand times. */
  get items(): readonly CelValue[] {
    if (this.#second === NOTHING) return listItems(this.#first)
    this.#meter.spend(this.size)
    const all: CelValue[] = []
    const left: CelList[] = [this]
    for (let list = left.pop(); list !== undefined; list = left.pop()) {
      if (list instanceof Concatenation) left.push(list.#second, list.#first)
      else for (const item of listItems(list)) all.push(item)
    }
    this.#first = all
    this.#second = NOTHING
    return all
  }
}

const NOTHING: readonly CelValue[] = []

export function concatenated(first: CelList, second: CelList, meter: Meter): CelList | CelError {
  const size = listSize(first) + listSize(second)
  if (size > MAX_LIST_SIZE) return new CelError('operation cancelled: actual cost limit exceeded')
  return size <= COPIED ? [...listItems(first), ...listItems(second)] : new Concatenation(first, second, meter)
}

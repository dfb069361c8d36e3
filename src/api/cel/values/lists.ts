/** Thread: any. How lists are read, whichever representation they have. */
import { type CelValue, ListValue } from './value.js'

export type CelList = readonly CelValue[] | ListValue

export const isList = (value: CelValue): value is CelList => Array.isArray(value) || value instanceof ListValue

export const listSize = (list: CelList): number => (list instanceof ListValue ? list.size : list.length)

/** The item at an index that there is. */
export const listItem = (list: CelList, index: number): CelValue =>
  list instanceof ListValue ? list.at(index) : list[index]!

/** All items as an array, not to be changed. */
export const listItems = (list: CelList): readonly CelValue[] => (list instanceof ListValue ? list.items : list)

/** Thread: any. What a part of an expression becomes when it is compiled. */
import type { CelType } from '../types.js'
import type { CelValue } from '../values/value.js'
import type { Closure } from './frame.js'

export interface Part {
  readonly type: CelType
  /** Gives the value. */
  readonly closure: Closure
  /** Gives the value or the JSON that it is read from: for whoever reads on, by `type`. */
  readonly raw: Closure
  /** Known before anything runs; it costs nothing. */
  readonly constant?: { readonly value: CelValue }
}

export const partOf = (type: CelType, closure: Closure): Part => ({ type, closure, raw: closure })

export const constantPart = (type: CelType, value: CelValue): Part => {
  const closure: Closure = () => value
  return { type, closure, raw: closure, constant: { value } }
}

/** Thread: any. Closures whose arguments are not all evaluated: `&&`, `||`, `?:`. An error is taken along until it is sure to matter. */
import { CelError } from '../values/value.js'
import { type Closure, NO_OVERLOAD } from './frame.js'

export const andClosure =
  (left: Closure, right: Closure): Closure =>
  (frame) => {
    const a = left(frame)
    if (a === false) return false
    const b = right(frame)
    if (b === false) return false
    if (a === true && b === true) return true
    return a instanceof CelError ? a : b instanceof CelError ? b : NO_OVERLOAD
  }

export const orClosure =
  (left: Closure, right: Closure): Closure =>
  (frame) => {
    const a = left(frame)
    if (a === true) return true
    const b = right(frame)
    if (b === true) return true
    if (a === false && b === false) return false
    return a instanceof CelError ? a : b instanceof CelError ? b : NO_OVERLOAD
  }

export const choiceClosure =
  (test: Closure, yes: Closure, no: Closure): Closure =>
  (frame) => {
    const chosen = test(frame)
    if (chosen === true) return yes(frame)
    if (chosen === false) return no(frame)
    return chosen instanceof CelError ? chosen : NO_OVERLOAD
  }

export const notStrictlyFalseClosure =
  (operand: Closure): Closure =>
  (frame) => {
    const value = operand(frame)
    frame.cost++
    return value !== false
  }

/**
 * Thread: any. Attributes: a variable, or what a call gave, and the fields, keys and indices that are read of it. They are one
 * closure, straight through JSON where the types say how. A path costs 1 for where it begins and 1 for each step. The first 1
 * falls away where Kubernetes does not evaluate the path by itself: as a branch of `?:`, and as an index.
 */
import type { JsonObject } from '../../object.js'
import { findOptional, itemAt, noSuchKey } from '../library/comparisons.js'
import { fieldNamed } from '../names.js'
import { type CelType, optionalContent } from '../types.js'
import { mapGet } from '../values/maps.js'
import { Optional } from '../values/optional.js'
import { type Reader, readerOf } from '../values/typed-json.js'
import { CelError, type CelValue, MapValue, Wrapped } from '../values/value.js'
import { type Closure, type Frame, NO_OVERLOAD } from './frame.js'
import type { Part } from './part.js'

/** From what holds something to what it holds, as JSON or as a value; an error when it is not there. */
export type Step = (holder: CelValue, frame: Frame) => CelValue

export interface Attribute {
  readonly root: Closure
  /** 1, or 0 where it begins at a choice, which costs nothing by itself. */
  readonly own: 0 | 1
  readonly steps: readonly Step[]
}

/** Names that every object has by its prototype must be asked for with care. */
const isInherited = (name: string): boolean => name in Object.prototype

/** Undefined: it is not there. */
type Find = (holder: CelValue) => CelValue | undefined

/** Reads a declared field out of JSON. Null is absence, also where it may stand. */
function fieldFinder(type: CelType, name: string): Find {
  const holderType = optionalContent(type) ?? type
  if (holderType.kind !== 'object') return keyFinder(name)
  const field = fieldNamed(holderType.fields, name)
  if (field === undefined) return () => undefined
  const { property } = field
  const careful = isInherited(property)
  return (holder) => {
    if (holder instanceof Wrapped) return holder instanceof MapValue ? holder.get(name) : NO_OVERLOAD
    if (typeof holder !== 'object' || holder === null) return NO_OVERLOAD
    if (careful && !Object.hasOwn(holder, property)) return undefined
    const value = (holder as JsonObject)[property]
    return value === null ? undefined : value
  }
}

/** A key of a map, or a field of what has no declared type. */
function keyFinder(name: string): Find {
  const careful = isInherited(name)
  return (holder) => {
    if (holder instanceof Wrapped) return holder instanceof MapValue ? holder.get(name) : NO_OVERLOAD
    if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return NO_OVERLOAD
    return careful ? mapGet(holder as JsonObject, name) : (holder as JsonObject)[name]
  }
}

const optionalResult = (found: CelValue | undefined, read: Reader): CelValue => {
  if (found === undefined) return Optional.NONE
  const value = read(found as never)
  return value instanceof CelError ? value : new Optional(value)
}

/** The type of what an optional value's field holds is known by the caller: `read` makes a value of it. */
function inOptional({ value }: Optional, find: Find, read: Reader): CelValue {
  return value === undefined ? Optional.NONE : optionalResult(find(value), read)
}

/** `a.b` */
export function selectStep(type: CelType, name: string, result: CelType): Step {
  const find = fieldFinder(type, name)
  const read = readerOf(optionalContent(result) ?? result)
  const missing = noSuchKey(name)
  return (holder) => {
    const found = find(holder)
    if (found === undefined) return missing
    return found === NO_OVERLOAD && holder instanceof Optional ? inOptional(holder, find, read) : found
  }
}

/** `a.?b` */
export function optionalSelectStep(type: CelType, name: string, result: CelType): Step {
  const find = fieldFinder(type, name)
  const read = readerOf(optionalContent(result) ?? result)
  return (holder) => (holder instanceof Optional ? inOptional(holder, find, read) : optionalResult(find(holder), read))
}

/** `a[b]` and `a[?b]`: what is asked for is evaluated once the holder is there. */
export function indexStep({ closure, constant: known }: Part, optional: boolean, result: CelType): Step {
  if (optional) {
    const read = readerOf(optionalContent(result) ?? result)
    return (holder, frame) => {
      const key = closure(frame)
      if (key instanceof CelError) return key
      const found = findOptional(holder, key)
      return found instanceof Optional && found.value !== undefined ? optionalResult(found.value, read) : found
    }
  }
  const constant = known?.value
  if (typeof constant === 'string') return constantKeyStep(constant)
  if (typeof constant === 'number') return constantIndexStep(constant)
  return (holder, frame) => {
    const key = closure(frame)
    return key instanceof CelError ? key : itemAt(holder, key)
  }
}

function constantKeyStep(key: string): Step {
  const find = keyFinder(key)
  const missing = noSuchKey(key)
  return (holder) => {
    if (holder instanceof Optional) return itemAt(holder, key)
    const found = find(holder)
    return found === undefined ? missing : found
  }
}

const constantIndexStep =
  (index: number): Step =>
  (holder) => {
    const found = Array.isArray(holder) ? (holder as readonly CelValue[])[index] : undefined
    return found === undefined ? itemAt(holder, index) : found
  }

/** `has(a.b)`, which costs what reading `a` costs. */
export function testClosure(operand: Closure, type: CelType, name: string): Closure {
  const find = fieldFinder(type, name)
  return (frame) => {
    const holder = operand(frame)
    if (holder instanceof CelError) return holder
    const inner = holder instanceof Optional ? holder.value : holder
    if (inner === undefined) return false
    const found = find(inner)
    return found instanceof CelError ? found : found !== undefined
  }
}

/** The closures of an attribute of a type; `own`: whether it is evaluated by itself. */
export function attributePart(attribute: Attribute, type: CelType, own: boolean): Part {
  const cost = (own ? attribute.own : 0) + attribute.steps.length
  const raw = walk(attribute.root, attribute.steps, cost)
  return { type, raw, closure: reading(raw, type) }
}

/** JSON becomes a value of its type. */
export function reading(raw: Closure, type: CelType): Closure {
  if (type.kind === 'dyn' || type.kind === 'any' || type.kind === 'opaque') return raw
  const read = readerOf(type)
  return (frame) => {
    const found = raw(frame)
    return found instanceof CelError ? found : read(found as never)
  }
}

function walk(root: Closure, steps: readonly Step[], cost: number): Closure {
  const [first, second] = steps
  if (first === undefined)
    return (frame) => {
      frame.cost += cost
      return root(frame)
    }
  if (steps.length === 1)
    return (frame) => {
      frame.cost += cost
      const holder = root(frame)
      return holder instanceof CelError ? holder : first(holder, frame)
    }
  if (second !== undefined && steps.length === 2)
    return (frame) => {
      frame.cost += cost
      const holder = root(frame)
      if (holder instanceof CelError) return holder
      const inner = first(holder, frame)
      return inner instanceof CelError ? inner : second(inner, frame)
    }
  return (frame) => {
    frame.cost += cost
    let holder = root(frame)
    for (const step of steps) {
      if (holder instanceof CelError) return holder
      holder = step(holder, frame)
    }
    return holder
  }
}

export const slotClosure =
  (slot: number): Closure =>
  (frame) =>
    frame.slots[slot]!

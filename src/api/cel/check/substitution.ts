/**
 * Thread: any. What type parameters stand for while an expression is checked, and whether two types fit each other. Follows the
 * rules of CEL's reference checker, in its order: which parameter is bound first decides what messages and results say.
 */
import { type CelType, DYN, sameType } from '../types.js'

const isDyn = ({ kind }: CelType): boolean => kind === 'dyn' || kind === 'any'
const isWild = (type: CelType): boolean => isDyn(type) || type.kind === 'error'

/** Null may stand for what is no plain scalar, list or map. */
const isNullable = ({ kind }: CelType): boolean =>
  kind === 'null' || kind === 'opaque' || kind === 'object' || kind === 'timestamp' || kind === 'duration'

/** Types inside of a type. */
const innerTypes = (type: CelType): readonly CelType[] => {
  switch (type.kind) {
    case 'list':
      return [type.element]
    case 'map':
      return [type.key, type.value]
    case 'opaque':
      return type.parameters
    case 'type':
      return type.of === undefined ? [] : [type.of]
    default:
      return []
  }
}

export class Substitution {
  readonly #found = new Map<string, CelType>()
  /** What was bound before, newest last: bindings of an attempt that fails are taken back. */
  readonly #journal: (readonly [string, CelType | undefined])[] = []

  /** Whether all types fit, pair by pair; what that says about parameters is kept if they do. */
  assignAll(types: readonly CelType[], others: readonly CelType[]): boolean {
    const mark = this.#journal.length
    if (this.#assignList(types, others)) return true
    while (this.#journal.length > mark) {
      const [name, before] = this.#journal.pop()!
      if (before === undefined) this.#found.delete(name)
      else this.#found.set(name, before)
    }
    return false
  }

  assign(type: CelType, other: CelType): boolean {
    return this.assignAll([type], [other])
  }

  #assignList(types: readonly CelType[], others: readonly CelType[]): boolean {
    return types.length === others.length && types.every((type, i) => this.#assign(type, others[i]!))
  }

  /** Whether `a` may stand where `b` is wanted. Parameters of `b` are bound before those of `a`. */
  #assign(a: CelType, b: CelType): boolean {
    if (b.kind === 'parameter') {
      const known = this.#found.has(b.name)
      if (this.#bind(b.name, a)) return true
      if (known) return false
    }
    if (a.kind === 'parameter') return this.#bind(a.name, b)
    if (isWild(a) || isWild(b)) return true
    if (a.kind === 'null') return isNullable(b)
    if (b.kind === 'null') return isNullable(a)
    switch (a.kind) {
      case 'list':
      case 'map':
      case 'opaque':
        if (b.kind !== a.kind || (a.kind === 'opaque' && b.kind === 'opaque' && a.name !== b.name)) return false
        return this.#assignList(innerTypes(a), innerTypes(b))
      case 'type':
        return b.kind === 'type'
      default:
        return sameType(a, b)
    }
  }

  /** Whether a type is right for a parameter, which then stands for the more general of what it stood for and this one. */
  #bind(name: string, type: CelType): boolean {
    if (type.kind === 'parameter' && type.name === name) return true
    const bound = this.#found.get(name)
    if (bound === undefined) return !this.#mentions(type, name) && this.#set(name, type)
    if (sameType(type, bound)) return true
    if (!this.#assign(type, bound)) return false
    const general = mostGeneral(type, bound)
    return this.#mentions(general, name) || this.#set(name, general)
  }

  #set(name: string, type: CelType): true {
    this.#journal.push([name, this.#found.get(name)])
    this.#found.set(name, type)
    return true
  }

  #mentions(type: CelType, name: string): boolean {
    if (type.kind === 'parameter') {
      if (type.name === name) return true
      const bound = this.#found.get(type.name)
      return bound !== undefined && this.#mentions(bound, name)
    }
    return innerTypes(type).some((one) => this.#mentions(one, name))
  }

  /** The type with what is known put in; parameters that nothing is known of stay, or become dyn. */
  apply(type: CelType, unknownIsDyn = false): CelType {
    switch (type.kind) {
      case 'parameter': {
        const bound = this.#found.get(type.name)
        if (bound !== undefined) return this.apply(bound, unknownIsDyn)
        return unknownIsDyn ? DYN : type
      }
      case 'list': {
        const element = this.apply(type.element, unknownIsDyn)
        return element === type.element ? type : { ...type, element }
      }
      case 'map': {
        const [key, value] = [this.apply(type.key, unknownIsDyn), this.apply(type.value, unknownIsDyn)]
        return key === type.key && value === type.value ? type : { ...type, key, value }
      }
      case 'opaque': {
        if (type.parameters.length === 0) return type
        return { ...type, parameters: type.parameters.map((one) => this.apply(one, unknownIsDyn)) }
      }
      case 'type':
        return type.of === undefined ? type : { ...type, of: this.apply(type.of, unknownIsDyn) }
      default:
        return type
    }
  }
}

/** The less particular of two types that fit each other; the second one when neither is. */
export const mostGeneral = (a: CelType, b: CelType): CelType => (isMoreGeneral(a, b) ? a : b)

function isMoreGeneral(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'parameter') return true
  if (isDyn(b) || b.kind === 'parameter' || a.kind !== b.kind) return false
  switch (a.kind) {
    case 'list':
    case 'map':
    case 'opaque': {
      if (a.kind === 'opaque' && b.kind === 'opaque' && a.name !== b.name) return false
      const [inner, others] = [innerTypes(a), innerTypes(b)]
      return inner.length === others.length && inner.every((one, i) => isMoreGeneral(one, others[i]!))
    }
    case 'type':
      return true
    default:
      return sameType(a, b)
  }
}

/** How many parts a type has; no more than `limit` of them are looked at. */
export function typeWeight(type: CelType, limit: number): number {
  let weight = 1
  for (const inner of innerTypes(type)) {
    if (weight > limit) break
    weight += typeWeight(inner, limit - weight)
  }
  return weight
}

/** A type with its parameters renamed, so that two calls of one function do not share them. */
export function renameParameters(type: CelType, suffix: string): CelType {
  switch (type.kind) {
    case 'parameter':
      return { ...type, name: type.name + suffix }
    case 'list':
      return { ...type, element: renameParameters(type.element, suffix) }
    case 'map':
      return { ...type, key: renameParameters(type.key, suffix), value: renameParameters(type.value, suffix) }
    case 'opaque':
      return { ...type, parameters: type.parameters.map((one) => renameParameters(one, suffix)) }
    case 'type':
      return type.of === undefined ? type : { ...type, of: renameParameters(type.of, suffix) }
    default:
      return type
  }
}
